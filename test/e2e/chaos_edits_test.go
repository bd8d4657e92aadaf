package e2e

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/chaos"
)

// Keys that are edited: one that seid takes, one that does not exist, one whose value seid refuses.
const (
	keyTaken   = "evm.max_tx_pool_txs"
	keyUnknown = "mempool.sise"
)

var (
	forAWhile = [2]time.Duration{10 * time.Second, 40 * time.Second}
	fleetRows = map[string]string{"v": "validators' spec", "rpc": "full nodes' spec"}
)

// chaosEdits are what users do to their fleets, and to what belongs to them.
func chaosEdits() []chaosAct {
	var acts []chaosAct
	for _, fleet := range []string{"v", "rpc"} {
		acts = append(acts,
			editOf(fleet, "image", 1, [2]time.Duration{}, changeImage),
			editOf(fleet, "override", 1, [2]time.Duration{}, changeOverride),
			editOf(fleet, "unknown override", 1, forAWhile, setOverride(keyUnknown, "1")),
			editOf(fleet, "refused override", 1, forAWhile, setOverride(keyMinGasPrices, refusedGasPrice)),
			editOf(fleet, "restart", 1, [2]time.Duration{}, askForRestart),
			editOf(fleet, "pause a node", 1, forAWhile, pauseNode),
			editOf(fleet, "pause the fleet", 1, forAWhile, pauseFleet),
		)
	}
	return append(acts,
		editOf("rpc", "scale", 2, [2]time.Duration{}, scaleServers),
		chaosAct{chaos.Act{Name: "edit SeiNode by hand", Times: 1}, (*chaosRun).editNodeByHand},
		chaosAct{chaos.Act{Name: "scale StatefulSet by hand", Times: 1}, (*chaosRun).scaleSetByHand},
	)
}

// fleetEdit changes a fleet, says in words how, and how it is undone.
type fleetEdit func(fleet *v1alpha1.SeiNodeDeployment, pick int) (what string, undo func(*v1alpha1.SeiNodeDeployment))

func editOf(fleet, name string, times int, lasts [2]time.Duration, edit fleetEdit) chaosAct {
	do := func(r *chaosRun, step chaos.Step) (chaos.Event, func() error, error) {
		done := chaos.Event{Kind: chaos.Edit, Row: fleetRows[fleet], What: name}
		var undo func(*v1alpha1.SeiNodeDeployment)
		err := r.changeFleet(fleet, func(f *v1alpha1.SeiNodeDeployment) { done.What, undo = edit(f, step.Pick) })
		if err != nil || undo == nil {
			return done, nil, err
		}
		return done, func() error { return r.changeFleet(fleet, undo) }, nil
	}
	return chaosAct{chaos.Act{Name: name + " of " + fleet, Times: times, Lasts: lasts}, do}
}

// changeFleet edits a fleet as kubectl does, and tries again while the API server is away.
func (r *chaosRun) changeFleet(name string, change func(*v1alpha1.SeiNodeDeployment)) error {
	return r.persist(func(ctx context.Context) error {
		fleet := &v1alpha1.SeiNodeDeployment{}
		if err := r.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: name}, fleet); err != nil {
			return err
		}
		before := fleet.DeepCopy()
		change(fleet)
		return r.Patch(ctx, fleet, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
}

// changeImage goes to the other of two tags of the same program.
func changeImage(fleet *v1alpha1.SeiNodeDeployment, _ int) (string, func(*v1alpha1.SeiNodeDeployment)) {
	spec := &fleet.Spec.Template.Spec
	if spec.Image == imageSeid {
		spec.Image = imageNext
	} else {
		spec.Image = imageSeid
	}
	return "image " + spec.Image, nil
}

func changeOverride(fleet *v1alpha1.SeiNodeDeployment, pick int) (string, func(*v1alpha1.SeiNodeDeployment)) {
	value := strconv.Itoa(1000 + pick%1000)
	setOverride(keyTaken, value)(fleet, pick)
	return keyTaken + " = " + value, nil
}

func setOverride(key, value string) fleetEdit {
	return func(fleet *v1alpha1.SeiNodeDeployment, _ int) (string, func(*v1alpha1.SeiNodeDeployment)) {
		spec := &fleet.Spec.Template.Spec
		if spec.Overrides == nil {
			spec.Overrides = map[string]string{}
		}
		spec.Overrides[key] = value
		return key + " = " + value, func(f *v1alpha1.SeiNodeDeployment) { delete(f.Spec.Template.Spec.Overrides, key) }
	}
}

func askForRestart(fleet *v1alpha1.SeiNodeDeployment, pick int) (string, func(*v1alpha1.SeiNodeDeployment)) {
	metadata := &fleet.Spec.Template.Metadata
	if metadata.Annotations == nil {
		metadata.Annotations = map[string]string{}
	}
	metadata.Annotations[v1alpha1.AnnotationRestart] = strconv.Itoa(pick)
	return v1alpha1.AnnotationRestart + " = " + strconv.Itoa(pick), nil
}

// pauseNode stops the pod of one node.
func pauseNode(fleet *v1alpha1.SeiNodeDeployment, pick int) (string, func(*v1alpha1.SeiNodeDeployment)) {
	ordinal := int32(pick) % fleet.Spec.Replicas
	resume := func(f *v1alpha1.SeiNodeDeployment) {
		f.Spec.Nodes = slices.DeleteFunc(f.Spec.Nodes, func(n v1alpha1.NodeSettings) bool { return n.Ordinal == ordinal })
	}
	resume(fleet)
	fleet.Spec.Nodes = append(fleet.Spec.Nodes, v1alpha1.NodeSettings{Ordinal: ordinal, Paused: new(true)})
	return fmt.Sprintf("%s-%d paused", fleet.Name, ordinal), resume
}

func pauseFleet(fleet *v1alpha1.SeiNodeDeployment, _ int) (string, func(*v1alpha1.SeiNodeDeployment)) {
	fleet.Spec.Paused = true
	return "the fleet paused", func(f *v1alpha1.SeiNodeDeployment) { f.Spec.Paused = false }
}

// scaleServers goes to another number of full nodes, from one to three.
func scaleServers(fleet *v1alpha1.SeiNodeDeployment, pick int) (string, func(*v1alpha1.SeiNodeDeployment)) {
	fleet.Spec.Replicas = 1 + (fleet.Spec.Replicas+int32(pick)%2)%3
	return fmt.Sprintf("%d replicas", fleet.Spec.Replicas), nil
}

// editNodeByHand changes a node of a fleet, which the fleet puts back.
func (r *chaosRun) editNodeByHand(step chaos.Step) (chaos.Event, func() error, error) {
	name := r.pickNode(step)
	done := chaos.Event{Kind: chaos.Edit, Row: "SeiNode", What: name + " given another image by hand"}
	return done, nil, r.persist(func(ctx context.Context) error {
		node := &v1alpha1.SeiNode{}
		if err := r.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: name}, node); err != nil {
			return err
		}
		before := node.DeepCopy()
		if node.Spec.Image == imageSeid {
			node.Spec.Image = imageNext
		} else {
			node.Spec.Image = imageSeid
		}
		return r.Patch(ctx, node, client.MergeFrom(before))
	})
}

// scaleSetByHand stops a node behind the operator's back, which puts it back.
func (r *chaosRun) scaleSetByHand(step chaos.Step) (chaos.Event, func() error, error) {
	name := r.pickNode(step)
	done := chaos.Event{Kind: chaos.Loss, Row: "StatefulSet", Node: name, What: "StatefulSet of " + name + " scaled to 0 by hand"}
	return done, nil, r.persist(func(ctx context.Context) error {
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name}}
		if err := r.Get(ctx, client.ObjectKeyFromObject(set), set); err != nil {
			return err
		}
		before := set.DeepCopy()
		set.Spec.Replicas = new(int32(0))
		return r.Patch(ctx, set, client.MergeFrom(before))
	})
}
