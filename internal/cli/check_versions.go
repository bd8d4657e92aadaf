package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/config/crd"
	"github.com/sei-operator/sei-operator/internal/definitions"
)

// checkDefinitions compares the CRDs of the cluster with those of the plugin's version.
func checkDefinitions(ctx context.Context, c *checkup) []checkResult {
	own, err := ownDefinitions()
	if err != nil {
		return unseen("%v", err)
	}
	var results []checkResult
	for _, want := range own {
		var have apiextensionsv1.CustomResourceDefinition
		err := c.Client.Get(ctx, client.ObjectKeyFromObject(&want), &have)
		switch {
		case apierrors.IsNotFound(err):
			results = append(results, failed("%s is not installed", want.Name)...)
		case err != nil:
			results = append(results, unseen("%s cannot be read: %v", want.Name, err)...)
		default:
			results = append(results, c.judgeDefinition(&want, &have)...)
		}
	}
	return results
}

// judgeDefinition compares fields. The API server drops what is written into fields that it does
// not know, so fewer than the operator has are worse than more.
func (c *checkup) judgeDefinition(want, have *apiextensionsv1.CustomResourceDefinition) []checkResult {
	skew, err := skewOf(want, have)
	lacks, more := skew.Missing, skew.Unknown
	switch {
	case err != nil:
		return unseen("%v", err)
	case len(lacks) > 0 && c.operator != nil && c.operator.version() == c.version:
		return failed("%s is older than the operator and lacks %s: apply the CRDs of %s", want.Name, someOf(lacks), c.version)
	case len(lacks) > 0:
		return warned("%s lacks %s, which version %s of the plugin has: apply newer CRDs, or use the plugin of the operator's version",
			want.Name, someOf(lacks), c.version)
	case len(more) > 0:
		return warned("%s is newer than version %s of the plugin, which does not know %s: use a newer plugin", want.Name, c.version, someOf(more))
	default:
		return passed("%s has the fields of version %s", want.Name, c.version)
	}
}

func ownDefinitions() ([]apiextensionsv1.CustomResourceDefinition, error) {
	entries, err := crd.Files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("reading the definitions of this version: %w", err)
	}
	definitions := make([]apiextensionsv1.CustomResourceDefinition, len(entries))
	for i, entry := range entries {
		content, err := crd.Files.ReadFile(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		if err := yaml.Unmarshal(content, &definitions[i]); err != nil {
			return nil, fmt.Errorf("parsing %s: %w", entry.Name(), err)
		}
	}
	return definitions, nil
}

// skewOf compares the fields of two definitions of a kind.
func skewOf(want, have *apiextensionsv1.CustomResourceDefinition) (definitions.Skew, error) {
	var fields [2]definitions.Fields
	for i, definition := range []*apiextensionsv1.CustomResourceDefinition{want, have} {
		raw, err := json.Marshal(definition)
		if err != nil {
			return definitions.Skew{}, fmt.Errorf("encoding %s: %w", definition.Name, err)
		}
		if fields[i], err = definitions.Of(raw); err != nil {
			return definitions.Skew{}, fmt.Errorf("reading the fields of %s: %w", definition.Name, err)
		}
	}
	return definitions.Compare(fields[0], fields[1])[0], nil
}

// someOf names the first of a list, so that a line stays one.
func someOf(names []string) string {
	if len(names) <= 3 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
}

// checkSidecars tells nodes whose sidecar is too old for the operator. The sidecar tells its API
// level to the operator alone, so that what the operator has made of it is taken from conditions.
func checkSidecars(ctx context.Context, c *checkup) []checkResult {
	var nodes v1alpha1.SeiNodeList
	if err := c.Client.List(ctx, &nodes); err != nil {
		return unseen("SeiNodes cannot be listed: %v", err)
	}
	if len(nodes.Items) == 0 {
		return passed("there are no nodes yet")
	}
	behind := map[string][]string{}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		for _, reason := range skewReasons(node) {
			behind[reason] = append(behind[reason], node.Namespace+"/"+node.Name)
		}
	}
	var results []checkResult
	for _, reason := range []string{v1alpha1.ReasonSidecarTooOld, v1alpha1.ReasonSharedAudience, v1alpha1.ReasonPlaintext, v1alpha1.ReasonPendingRestart} {
		if names := behind[reason]; len(names) > 0 {
			results = append(results, warned("%s: %s (kubectl sei explain %s)", reason, someOf(names), reason)...)
		}
	}
	if len(results) == 0 {
		return passed("the operator finds the sidecars of all %d nodes recent enough", len(nodes.Items))
	}
	return results
}

// skewReasons are the reasons of a node that report a pod that is older than the operator.
func skewReasons(node *v1alpha1.SeiNode) []string {
	var found []string
	for _, c := range node.Status.Conditions {
		if c.Reason == v1alpha1.ReasonSidecarTooOld && !slices.Contains(found, c.Reason) {
			found = append(found, c.Reason)
		}
	}
	if c := meta.FindStatusCondition(node.Status.Conditions, v1alpha1.ConditionSidecarReady); c != nil &&
		(c.Reason == v1alpha1.ReasonSharedAudience || c.Reason == v1alpha1.ReasonPlaintext) {
		found = append(found, c.Reason)
	}
	if c := meta.FindStatusCondition(node.Status.Conditions, v1alpha1.ConditionNodeUpdateInProgress); c != nil && c.Reason == v1alpha1.ReasonPendingRestart {
		found = append(found, c.Reason)
	}
	return found
}
