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
	TaskRestoreGenesis  = "restore-genesis"
)

// Reasons of a fleet's plans. They are part of what users see.
const (
	ReasonGenesisCeremony = "GenesisCeremony"
	// ReasonGenesisMissing: the ConfigMap of a finished ceremony was deleted, and
	// is restored from a node.
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
	// CeremonyConflict: the chain has its genesis, and something else stands in the
	// place of its ConfigMap; Message says what.
	CeremonyConflict
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

// validators are the consensus addresses in the chain's genesis; nil when it cannot be determined.
func (c Ceremony) validators() []string {
	if c.State != CeremonyDone || c.Found == nil {
		return nil
	}
	return GenesisValidators(c.Found)
}

// retryCeremonyAfter is how long a failed ceremony is left alone before it is tried
// again by itself.
const retryCeremonyAfter = 5 * time.Minute

// defaultCeremonyDuration is how long a ceremony may take.
const defaultCeremonyDuration = 15 * time.Minute

// CeremonyFacts is what a fleet's namespace knows of the fleet's chain.
type CeremonyFacts struct {
	// Genesis are the ConfigMaps with a genesis of the chain.
	Genesis []corev1.ConfigMap
	// Founders are the fleets that ask to start the chain, the fleet itself among them.
	Founders []v1alpha1.SeiNodeDeployment
}

// DecideCeremony chooses what to do about the fleet's genesis. A ceremony that is
// complete is never run again: its hash is in status, or else in the ConfigMap. Of one that another
// operator has completed there is neither, and the validators have the genesis.
func DecideCeremony(snd *v1alpha1.SeiNodeDeployment, seen CeremonyFacts, now time.Time) Ceremony {
	if snd.Spec.Genesis == nil {
		return Ceremony{State: CeremonyNone}
	}
	own, other := ownGenesis(snd, seen.Genesis)
	if snd.Status.GenesisHash != "" || ChainBegun(snd) && own == nil {
		return afterCeremony(snd, own, now)
	}
	if problem := ceremonyProblem(snd, own, other, seen.Founders); problem != "" {
		return Ceremony{State: CeremonyBlocked, Message: problem}
	}
	switch {
	case isActive(snd.Status.Plan):
		return Ceremony{State: CeremonyRunning}
	case own != nil:
		return Ceremony{State: CeremonyDone, Found: own}
	}
	if err := CheckGenesis(snd.Spec.Genesis); err != nil {
		return Ceremony{State: CeremonyBlocked, Message: err.Error() + ". The genesis of a fleet cannot change: delete and recreate the fleet"}
	}
	return again(snd, ReasonGenesisCeremony, now)
}

// ChainBegun reports whether the fleet's chain has its genesis. Of one that another operator has started
// the hash is not known before it was read from a validator.
func ChainBegun(snd *v1alpha1.SeiNodeDeployment) bool {
	return snd.Status.GenesisHash != "" || snd.Status.GenesisConfigMap != ""
}

// afterCeremony sees to the ConfigMap of a chain that exists: another genesis in its place is
// named and left alone, and a lost one is restored.
func afterCeremony(snd *v1alpha1.SeiNodeDeployment, own *corev1.ConfigMap, now time.Time) Ceremony {
	if own != nil {
		if problem := GenesisProblem(snd, own, snd.Status.GenesisHash); problem != "" {
			return Ceremony{State: CeremonyConflict, Message: problem}
		}
		if !isActive(snd.Status.Plan) {
			return Ceremony{State: CeremonyDone, Found: own}
		}
	}
	if isActive(snd.Status.Plan) {
		return Ceremony{State: CeremonyRunning}
	}
	return again(snd, ReasonGenesisMissing, now)
}

func isActive(p *v1alpha1.TaskPlan) bool { return p != nil && p.Phase == v1alpha1.PlanActive }

// ceremonyProblem says why a chain that has no genesis yet cannot get one from this fleet.
func ceremonyProblem(snd *v1alpha1.SeiNodeDeployment, own, other *corev1.ConfigMap, founders []v1alpha1.SeiNodeDeployment) string {
	chain := snd.Spec.Genesis.ChainID
	if own != nil {
		return GenesisProblem(snd, own, "")
	}
	if other != nil {
		return fmt.Sprintf("ConfigMap %s holds a genesis of chain %s already, and nodes would find that one: delete it, or choose another chainId", other.Name, chain)
	}
	if first := founder(snd, founders); first != snd.Name {
		return fmt.Sprintf("SeiNodeDeployment %s starts chain %s already: delete one of the two fleets, or choose another chainId", first, chain)
	}
	return ""
}

// founder is the name of the fleet that may start the chain: the one that has done so, else the
// oldest, else the first by name. All fleets come to the same answer, whoever is asked first.
func founder(snd *v1alpha1.SeiNodeDeployment, founders []v1alpha1.SeiNodeDeployment) string {
	first := snd
	for i := range founders {
		if f := &founders[i]; f.DeletionTimestamp == nil && f.UID != snd.UID && precedes(f, first) {
			first = f
		}
	}
	return first.Name
}

func precedes(a, b *v1alpha1.SeiNodeDeployment) bool {
	if begun := ChainBegun(a); begun != ChainBegun(b) {
		return begun
	}
	return older(a, b)
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

// ownGenesis is the ConfigMap under the fleet's own name, and the first of those under another.
func ownGenesis(snd *v1alpha1.SeiNodeDeployment, genesis []corev1.ConfigMap) (own, other *corev1.ConfigMap) {
	for i := range genesis {
		c := &genesis[i]
		switch {
		case c.Name == GenesisName(snd.Name):
			own = c
		case other == nil || c.Name < other.Name:
			other = c
		}
	}
	return own, other
}

// NewCeremony makes the plan of a ceremony, or the one that restores its result. The whole of it
// has one deadline.
func NewCeremony(snd *v1alpha1.SeiNodeDeployment, cfg *platform.Config, reason string, now time.Time) *v1alpha1.TaskPlan {
	spec := plan.Spec{
		Reason:  reason,
		Message: fmt.Sprintf("making the genesis of %s with %d validators", snd.Spec.Genesis.ChainID, snd.Spec.Replicas),
		Tasks:   []string{TaskCollectGentxs, TaskAssembleGenesis},
	}
	if cfg.Buckets.Genesis != "" {
		spec.Tasks = append(spec.Tasks, TaskPublishGenesis)
	}
	spec.Tasks = append(spec.Tasks, TaskStoreGenesis)
	if reason == ReasonGenesisMissing {
		spec.Message = fmt.Sprintf("restoring the genesis of %s from a node", snd.Spec.Genesis.ChainID)
		spec.Tasks = []string{TaskRestoreGenesis}
	}
	p := plan.New(spec, now)
	BoundCeremony(snd, p, now)
	return p
}

// BoundCeremony gives the tasks that have no deadline the ceremony's: all of them when
// it begins, and what is left of them when it continues after a pause.
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
