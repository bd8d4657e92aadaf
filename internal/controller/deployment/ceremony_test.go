package deployment

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

// withoutGenesis is a client whose cache does not show ConfigMaps yet.
type withoutGenesis struct{ client.Client }

// List implements client.Reader.
func (w *withoutGenesis) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	if _, ok := list.(*corev1.ConfigMapList); ok {
		return nil
	}
	return w.Client.List(ctx, list, o...)
}

// N36: a genesis that was just stored and is not in the cache yet is not restored from a node. One that is lost is.
func TestN36_GenesisOnALateCache_IsNotTakenForLost(t *testing.T) {
	for name, want := range map[string]struct{ stored, plan bool }{
		"stored": {stored: true},
		"lost":   {plan: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			snd := stored(t, c)
			snd.Status.GenesisHash, snd.Status.GenesisConfigMap = "abc", fleet.GenesisName(snd.Name)
			if err := c.Status().Update(t.Context(), snd); err != nil {
				t.Fatal(err)
			}
			if want.stored {
				genesis := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
					Namespace: snd.Namespace, Name: fleet.GenesisName(snd.Name),
					Labels:      map[string]string{v1alpha1.LabelGenesis: snd.Spec.Genesis.ChainID},
					Annotations: map[string]string{v1alpha1.AnnotationGenesisHash: "abc"},
				}}
				if err := c.Create(t.Context(), genesis); err != nil {
					t.Fatal(err)
				}
			}
			r := operator(t, c)
			r.Client = &withoutGenesis{c}
			pass(t, r)
			if is := stored(t, c).Status.Plan; (is != nil) != want.plan {
				t.Errorf("the plan is %+v, want one: %v", is, want.plan)
			}
		})
	}
}

// A chain that a fleet of another operator has started is not started again by an older fleet of ours.
func TestCeremony_ChainOfAnotherOperatorsFleet_IsNotStartedAgain(t *testing.T) {
	c := newCluster(t)
	theirs := stored(t, c)
	theirs.Name, theirs.UID, theirs.ResourceVersion = "theirs", "theirs", ""
	theirs.CreationTimestamp = metav1.NewTime(c.Clock.Now().Add(time.Hour))
	theirs.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionGenesisCeremonyComplete, Status: metav1.ConditionTrue, Reason: "Complete", LastTransitionTime: metav1.NewTime(c.Clock.Now()),
	}}
	status := theirs.Status
	if err := c.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	theirs.Status = status
	if err := c.Status().Update(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	pass(t, operator(t, c))
	got := meta.FindStatusCondition(stored(t, c).Status.Conditions, v1alpha1.ConditionGenesisCeremonyComplete)
	if got == nil || got.Reason != v1alpha1.ReasonCeremonyFailed || !strings.Contains(got.Message, "SeiNodeDeployment theirs starts chain new-1 already") {
		t.Errorf("the condition is %+v", got)
	}
}
