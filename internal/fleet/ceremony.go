package fleet

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// The task types of a fleet's plans. They are part of what users see.
const (
	TaskCollectGentxs   = "collect-gentxs"
	TaskAssembleGenesis = "assemble-genesis"
	TaskPublishGenesis  = "publish-genesis"
	TaskStoreGenesis    = "store-genesis"
)

// Reasons of a fleet's plans. They are part of what users see.
const (
	ReasonGenesisCeremony = "GenesisCeremony"
	// ReasonGenesisMissing: the ConfigMap of a finished ceremony was deleted, and
	// the same genesis is asked for again.
	ReasonGenesisMissing = "GenesisMissing"
)

// CeremonyState is where a ceremony stands.
type CeremonyState int

// The states of a ceremony.
const (
	// CeremonyNone: the fleet starts no chain.
	CeremonyNone CeremonyState = iota
	// CeremonyBlocked: it cannot begin; Message says why.
	CeremonyBlocked
	// CeremonyDue: a plan has to be made.
	CeremonyDue
	// CeremonyRunning: a plan is under way.
	CeremonyRunning
	// CeremonyPutOff: it failed and is tried again after RetryIn.
	CeremonyPutOff
	// CeremonyDone: the chain has its genesis.
	CeremonyDone
)

// Ceremony is what to do about a fleet's genesis.
type Ceremony struct {
	State   CeremonyState
	Message string
	// Reason is the reason of the plan to be made.
	Reason  string
	RetryIn time.Duration
	// Found is a genesis that an earlier fleet of this name left behind.
	Found *corev1.ConfigMap
}

// retryCeremonyAfter is how long a failed ceremony is left alone before it is tried
// again by itself.
const retryCeremonyAfter = 5 * time.Minute

// defaultCeremonyDuration is how long a ceremony may take.
const defaultCeremonyDuration = 15 * time.Minute

// DecideCeremony chooses what to do about the fleet's genesis. genesis are the
// ConfigMaps of the namespace with a genesis of the fleet's chain. A ceremony that is
// complete is never run again: its hash is in status, or else in the ConfigMap.
func DecideCeremony(snd *v1alpha1.SeiNodeDeployment, genesis []corev1.ConfigMap, now time.Time) Ceremony {
	spec, active := snd.Spec.Genesis, snd.Status.Plan
	if spec == nil {
		return Ceremony{State: CeremonyNone}
	}
	own, other := ownGenesis(snd, genesis)
	running := active != nil && active.Phase == v1alpha1.PlanActive
	switch {
	case running:
		return Ceremony{State: CeremonyRunning}
	case own != nil:
		return Ceremony{State: CeremonyDone, Found: own}
	case snd.Status.GenesisHash != "":
		return again(snd, ReasonGenesisMissing, now)
	case other != nil:
		return Ceremony{State: CeremonyBlocked, Message: fmt.Sprintf(
			"ConfigMap %s holds a genesis of chain %s already, and nodes would find that one: delete it, or choose another chainId", other.Name, spec.ChainID)}
	}
	if err := CheckGenesis(spec); err != nil {
		return Ceremony{State: CeremonyBlocked, Message: err.Error() + ". The genesis of a fleet cannot change: delete the fleet and make it anew"}
	}
	return again(snd, ReasonGenesisCeremony, now)
}

// again is a plan that is due, or put off because one has just failed.
func again(snd *v1alpha1.SeiNodeDeployment, reason string, now time.Time) Ceremony {
	last := snd.Status.LastPlan
	asked := snd.Annotations[v1alpha1.AnnotationRetry]
	if last == nil || last.Outcome != v1alpha1.OutcomeFailed || asked != "" && asked != snd.Status.RetriedFor {
		return Ceremony{State: CeremonyDue, Reason: reason}
	}
	left := last.FinishedAt.Add(retryCeremonyAfter).Sub(now)
	if left <= 0 {
		return Ceremony{State: CeremonyDue, Reason: reason}
	}
	return Ceremony{State: CeremonyPutOff, Reason: reason, RetryIn: left}
}

func ownGenesis(snd *v1alpha1.SeiNodeDeployment, genesis []corev1.ConfigMap) (own, other *corev1.ConfigMap) {
	for i := range genesis {
		c := &genesis[i]
		switch {
		case c.Name == GenesisName(snd.Name) && c.Annotations[v1alpha1.AnnotationGenesisHash] != "":
			own = c
		case other == nil || c.Name < other.Name:
			other = c
		}
	}
	return own, other
}

// NewCeremony makes the plan of a ceremony. The whole of it has one deadline.
func NewCeremony(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, reason string, now time.Time) *v1alpha1.TaskPlan {
	tasks := []string{TaskCollectGentxs, TaskAssembleGenesis}
	if cfg.Buckets.Genesis != "" {
		tasks = append(tasks, TaskPublishGenesis)
	}
	p := plan.New(plan.Spec{
		Reason:  reason,
		Message: fmt.Sprintf("making the genesis of %s with %d validators", snd.Spec.Genesis.ChainID, snd.Spec.Replicas),
		Tasks:   append(tasks, TaskStoreGenesis),
	}, now)
	BoundCeremony(snd, p, now)
	return p
}

// BoundCeremony gives the tasks that have no deadline the ceremony's: all of them when
// it begins, and what is left of them when it goes on after a pause.
func BoundCeremony(snd *v1alpha1.SeiNodeDeployment, p *v1alpha1.TaskPlan, now time.Time) {
	limit := defaultCeremonyDuration
	if d := snd.Spec.Genesis.MaxCeremonyDuration; d != nil {
		limit = cmp.Or(d.Duration, limit)
	}
	deadline := metav1.NewTime(now.Truncate(time.Second).Add(limit))
	for i := range p.Tasks {
		if t := &p.Tasks[i]; t.Deadline == nil && t.Status != v1alpha1.TaskComplete {
			t.Deadline = &deadline
		}
	}
}

// SuspendCeremony stops the clock of a ceremony that is paused.
func SuspendCeremony(p *v1alpha1.TaskPlan) {
	for i := range p.Tasks {
		if t := &p.Tasks[i]; t.Status != v1alpha1.TaskComplete {
			t.StartedAt, t.Deadline = nil, nil
		}
	}
}

// GenesisAddress is where a genesis is published, without the bucket's options.
func GenesisAddress(bucket, chainID string) string {
	address, _, _ := strings.Cut(bucket, "?")
	return strings.TrimSuffix(address, "/") + "/" + chainID + "/genesis.json"
}
