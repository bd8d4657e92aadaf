package live

import (
	"context"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

// Upgrade is what a node says of the upgrade that its chain has planned. What else there is to know of
// it is in the status of the SeiNode.
type Upgrade struct {
	Name string `json:"name"`
	// EstimatedTime is about when the chain gets to its height, by the pace of the last blocks.
	EstimatedTime time.Time `json:"estimatedTime"`
}

// AskUpgrade asks one node for no more than that. nil: it does not say, or has not answered, and then
// why tells the reason.
func AskUpgrade(ctx context.Context, proxy Proxy, node *v1alpha1.SeiNode) (told *Upgrade, why string) {
	pod := types.NamespacedName{Namespace: node.Namespace, Name: render.PodName(node)}
	families, err := metricsOf(ctx, proxy, pod, int(render.SidecarPort(node)))
	if err != nil {
		return nil, reason(err)
	}
	return upgradeOf(families[metricUpgradeAt]), ""
}

// upgradeOf reads the estimate. A node that cannot tell has no such series.
func upgradeOf(family *dto.MetricFamily) *Upgrade {
	at := gauge(family)
	if at == nil {
		return nil
	}
	return &Upgrade{Name: label(family.GetMetric()[0], "name"), EstimatedTime: time.Unix(*at, 0).UTC()}
}
