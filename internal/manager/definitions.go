package manager

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/definitions"
	"github.com/sei-operator/sei-operator/internal/metrics"
)

// definitionsInterval is how often the CRDs are looked at: they may be applied after the operator.
const definitionsInterval = 10 * time.Minute

// definitionCheck tells whether the cluster's CRDs are those that the operator was built with. It asks for
// the OpenAPI document, which every account may read, and so for what the API server goes by.
type definitionCheck struct {
	document func() ([]byte, error)
	tell     func([]definitions.Skew)
	log      logr.Logger
	// said is what was logged last: the log is for changes.
	said string
}

func addDefinitionCheck(mgr ctrl.Manager) error {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("building the client for the CRDs' fields: %w", err)
	}
	check := &definitionCheck{
		document: func() ([]byte, error) { return openAPI(client) },
		tell:     metrics.Default().DefinitionsCompared, log: mgr.GetLogger().WithName("definitions"),
	}
	if err := mgr.Add(check); err != nil {
		return fmt.Errorf("adding the check of the CRDs: %w", err)
	}
	return nil
}

// openAPI is the document of our group; empty when the cluster does not have it.
func openAPI(client discovery.DiscoveryInterface) ([]byte, error) {
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return nil, err
	}
	group, ok := paths["apis/"+seiv1.GroupVersion.String()]
	if !ok {
		return []byte("{}"), nil
	}
	return group.Schema(runtime.ContentTypeJSON)
}

// Start implements manager.Runnable.
func (c *definitionCheck) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(context.Context) { c.look() }, definitionsInterval)
	return nil
}

// NeedLeaderElection has every replica look: each has metrics of its own.
func (c *definitionCheck) NeedLeaderElection() bool { return false }

func (c *definitionCheck) look() {
	skews, err := c.compare()
	if err != nil {
		c.log.Error(err, "the CRDs could not be compared with those of this version")
		return
	}
	c.tell(skews)
	said := fmt.Sprint(skews)
	if said == c.said {
		return
	}
	c.said = said
	c.report(skews)
}

func (c *definitionCheck) compare() ([]definitions.Skew, error) {
	own, err := definitions.Own()
	if err != nil {
		return nil, err
	}
	document, err := c.document()
	if err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document of %s: %w", seiv1.GroupVersion, err)
	}
	served, err := definitions.Served(document)
	if err != nil {
		return nil, err
	}
	return definitions.Compare(own, served), nil
}

func (c *definitionCheck) report(skews []definitions.Skew) {
	same := true
	for _, s := range skews {
		if len(s.Missing) > 0 {
			same = false
			c.log.Info("the CRD lacks fields of this version, and the API server drops what is written into them: apply the CRDs of this version",
				"kind", s.Kind, "count", len(s.Missing), "first", s.Missing[0])
		}
		if len(s.Unknown) > 0 {
			same = false
			c.log.Info("the CRD has fields that this version does not know: it is newer than the operator",
				"kind", s.Kind, "count", len(s.Unknown), "first", s.Unknown[0])
		}
	}
	if same {
		c.log.Info("the CRDs have the fields of this version")
	}
}
