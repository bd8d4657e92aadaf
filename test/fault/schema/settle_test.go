package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/test/envtest/world"
)

// state is how far an object has come with its spec.
type state struct {
	settled bool
	// problems are what its conditions complain about, each in one line.
	problems []string
}

// look reads the state of a node or a fleet.
func look(ctx context.Context, w *world.World, b base) (state, error) {
	if b.kind == v1alpha1.KindSeiNode {
		return lookAtNode(ctx, w, nodeName)
	}
	f := &v1alpha1.SeiNodeDeployment{}
	if err := w.Client.Get(ctx, client.ObjectKey{Namespace: w.NS, Name: fleetName}, f); err != nil {
		return state{}, err
	}
	s := state{problems: problems(f.Status.Conditions, f.Generation)}
	isTrue := func(condition string) bool {
		return conditions.Is(f.Status.Conditions, condition, metav1.ConditionTrue, "")
	}
	s.settled = f.Status.ObservedGeneration == f.Generation && f.Status.Rollout == nil && f.Status.Replicas == f.Spec.Replicas && f.Status.UpdatedReplicas == f.Spec.Replicas && !isTrue(v1alpha1.ConditionRolloutFailed)
	if f.Spec.Paused {
		s.settled = f.Status.ObservedGeneration == f.Generation && isTrue(v1alpha1.ConditionPaused)
	}
	kept, err := keepsTemplate(ctx, w, f)
	if err != nil {
		return state{}, err
	}
	s.settled = s.settled && kept
	nodes := &v1alpha1.SeiNodeList{}
	if err := w.Client.List(ctx, nodes, client.InNamespace(w.NS)); err != nil {
		return state{}, err
	}
	s.settled = s.settled && len(nodes.Items) == int(f.Spec.Replicas)
	for _, n := range nodes.Items {
		of, err := lookAtNode(ctx, w, n.Name)
		if err != nil {
			return state{}, client.IgnoreNotFound(err)
		}
		s.settled = s.settled && of.settled
		s.problems = append(s.problems, of.problems...)
	}
	return s, nil
}

// keepsTemplate reports whether a fleet's template is written down. The operator may still see the
// ControllerRevision of the fleet that had the same name and template before.
func keepsTemplate(ctx context.Context, w *world.World, f *v1alpha1.SeiNodeDeployment) (bool, error) {
	template, err := json.Marshal(&f.Spec.Template)
	if err != nil {
		return false, err
	}
	revision := &appsv1.ControllerRevision{}
	err = w.Client.Get(ctx, client.ObjectKey{Namespace: f.Namespace, Name: fleet.RevisionName(f.Name, template)}, revision)
	return err == nil && fleet.Owns(f, revision), client.IgnoreNotFound(err)
}

func lookAtNode(ctx context.Context, w *world.World, name string) (state, error) {
	n := &v1alpha1.SeiNode{}
	if err := w.Client.Get(ctx, client.ObjectKey{Namespace: w.NS, Name: name}, n); err != nil {
		return state{}, err
	}
	s := state{problems: problems(n.Status.Conditions, n.Generation)}
	is := func(condition string) bool {
		c := conditions.Get(n.Status.Conditions, condition)
		return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == n.Generation
	}
	observed := n.Status.ObservedGeneration == n.Generation && n.Status.Plan == nil && n.DeletionTimestamp == nil
	if n.Spec.Paused {
		err := w.Client.Get(ctx, client.ObjectKey{Namespace: w.NS, Name: name + "-0"}, &corev1.Pod{})
		s.settled = observed && is(v1alpha1.ConditionPaused) && apierrors.IsNotFound(err)
		return s, nil
	}
	s.settled = observed && is(v1alpha1.ConditionReady) && is(v1alpha1.ConditionSidecarReady) && !is(v1alpha1.ConditionStalled)
	return s, nil
}

// abnormal are the conditions that report a problem, with the status that does.
var abnormal = map[string]metav1.ConditionStatus{
	v1alpha1.ConditionSpecValid:            metav1.ConditionFalse,
	v1alpha1.ConditionStalled:              metav1.ConditionTrue,
	v1alpha1.ConditionReady:                metav1.ConditionFalse,
	v1alpha1.ConditionNetworkingReady:      metav1.ConditionFalse,
	v1alpha1.ConditionRolloutFailed:        metav1.ConditionTrue,
	v1alpha1.ConditionRolloutStalled:       metav1.ConditionTrue,
	v1alpha1.ConditionResizePending:        metav1.ConditionTrue,
	v1alpha1.ConditionResultsMatch:         metav1.ConditionFalse,
	v1alpha1.ConditionSnapshotsPublished:   metav1.ConditionFalse,
	v1alpha1.ConditionOperatorKeyringReady: metav1.ConditionFalse,
	v1alpha1.ConditionNodeKeyReady:         metav1.ConditionFalse,
	v1alpha1.ConditionSigningKeyReady:      metav1.ConditionFalse,
	v1alpha1.ConditionImportPVCReady:       metav1.ConditionFalse,
}

func problems(list []metav1.Condition, generation int64) []string {
	var found []string
	for _, c := range list {
		bad := abnormal[c.Type] == c.Status || strings.HasSuffix(c.Reason, "Failed")
		underWay := c.Reason == v1alpha1.ReasonOutOfDate || c.Reason == v1alpha1.ReasonNotApplicable
		if bad && c.ObservedGeneration == generation && !underWay {
			found = append(found, fmt.Sprintf("%s is %s, %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	return found
}
