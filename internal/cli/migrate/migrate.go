package migrate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sei-operator/sei-operator/internal/cli/lint"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// Action is what would happen to an object, or has to.
type Action string

// The actions, from those that need nobody to those that somebody has to see to first.
const (
	// Keep: the object stays as it is.
	Keep Action = "keep"
	// Adopt: the operator takes the object over, under the same uid.
	Adopt Action = "adopt"
	// Create: the object is not there and is made.
	Create Action = "create"
	// Restart: the pod is replaced once.
	Restart Action = "restart"
	// Drop: a field is lost, because this operator does not know it.
	Drop Action = "drop"
	// Ignore: nobody looks after the object any more.
	Ignore Action = "ignore"
	// Review: what happens was not tried; decide by hand.
	Review Action = "review"
	// Change: it does not work before somebody has changed this.
	Change Action = "change"
)

// Finding is one thing that would happen to an object.
type Finding struct {
	Object string `json:"object"`
	Action Action `json:"action"`
	Detail string `json:"detail"`
}

// Blocks reports whether somebody has to do something first.
func (f Finding) Blocks() bool { return f.Action == Change || f.Action == Review }

// Inventory is what is there.
type Inventory struct {
	// Nodes, Fleets and Tasks are of the kinds that both operators have.
	Nodes, Fleets, Tasks []unstructured.Unstructured
	// Others are objects of kinds that only the public operator has.
	Others       []unstructured.Unstructured
	StatefulSets []appsv1.StatefulSet
	Pods         []corev1.Pod
	Claims       []corev1.PersistentVolumeClaim
	// Leases are those by which operators elect their leader.
	Leases []coordinationv1.Lease
	// Platform is the configuration that this operator has, or would have.
	Platform *platform.Config
}

// publicLease is the Lease of the public operator's leader.
const publicLease = "bc1f5b0a.sei.io"

// Plan lists what would happen, the public operator first.
func Plan(in *Inventory, linter *lint.Linter, now time.Time) ([]Finding, error) {
	found := runningOperator(in.Leases, now)
	for i := range in.Fleets {
		fleetFindings, err := fleetOf(in, linter, &in.Fleets[i])
		if err != nil {
			return nil, err
		}
		found = append(found, fleetFindings...)
	}
	for i := range in.Nodes {
		nodeFindings, err := node(in, linter, &in.Nodes[i])
		if err != nil {
			return nil, err
		}
		found = append(found, nodeFindings...)
	}
	for i := range in.Tasks {
		found = append(found, task(&in.Tasks[i])...)
	}
	for i := range in.Others {
		found = append(found, Finding{name(&in.Others[i]), Ignore,
			"this operator has no such kind and does not look at it; SeiNodes that were made for it are listed by themselves"})
	}
	return found, nil
}

func runningOperator(leases []coordinationv1.Lease, now time.Time) []Finding {
	i := slices.IndexFunc(leases, func(l coordinationv1.Lease) bool { return l.Name == publicLease })
	if i < 0 || leases[i].Spec.HolderIdentity == nil || *leases[i].Spec.HolderIdentity == "" {
		return nil
	}
	lease := leases[i]
	if renewed := lease.Spec.RenewTime; renewed == nil || now.Sub(renewed.Time) > time.Minute {
		return nil
	}
	return []Finding{{"Lease " + lease.Namespace + "/" + lease.Name, Change,
		"the public operator runs (" + *lease.Spec.HolderIdentity + "): scale it to 0 before this one is installed; two operators would undo each other's writes"}}
}

func task(obj *unstructured.Unstructured) []Finding {
	switch phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase"); phase {
	case "Complete", "Failed":
		return []Finding{{name(obj), Keep, "it has ended (" + phase + ")"}}
	default:
		return []Finding{{name(obj), Change, "it has not ended: wait for it, or delete it, so that it is not done twice"}}
	}
}

// fields says what the definitions of this operator would drop or refuse. Status is rewritten and
// does not count.
func fields(linter *lint.Linter, obj *unstructured.Unstructured) []Finding {
	var found []Finding
	for _, f := range linter.Object(obj.Object) {
		switch {
		case strings.HasPrefix(f.Field, "status"):
		case f.Severity != lint.Error:
			found = append(found, Finding{name(obj), Review, f.Field + ": " + f.Message})
		case f.Message == "unknown field":
			found = append(found, Finding{name(obj), Drop, f.Field + ": this operator does not have the field"})
		default:
			found = append(found, Finding{name(obj), Change, strings.TrimPrefix(f.Field+": ", ": ") + f.Message})
		}
	}
	return found
}

func name(obj *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s", obj.GetKind(), obj.GetNamespace(), obj.GetName())
}
