package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/elapse"
)

const (
	// killsEnv is how many proposals are sent under fire.
	killsEnv     = "E2E_KILLS"
	defaultKills = 3
)

// proposeUnderFire sends one proposal after the other while the operator, the sidecar or the whole pod is killed at a random
// moment. In about half of the runs somebody then gives the sidecar the same task with other parameters, and a second kill
// follows. The chain numbers proposals: a task that sent two would show in the number of the next.
func (s *scenario) proposeUnderFire() {
	runs := defaultKills
	if text := os.Getenv(killsEnv); text != "" {
		var err error
		if runs, err = strconv.Atoi(text); err != nil {
			s.t.Fatalf("%s: %v", killsEnv, err)
		}
	}
	const first = 2 // the upgrade was the first proposal
	random := rand.New(rand.NewPCG(2026, 14))
	edits, taken := 0, 0
	began := time.Now()
	for run := range runs {
		name, node := fmt.Sprintf("propose-%d", run), fmt.Sprintf("v-%d", run%validators)
		s.propose(name, node)
		pause := time.Duration(random.IntN(3000)) * time.Millisecond
		elapse.For(s.t.Context(), pause) // the moment of the kill is what is random here
		which := random.IntN(3)
		how := s.killOne(which, node)
		if random.IntN(2) == 0 {
			took, edited := s.submitEdited(name, node)
			if edits++; took {
				taken++
			}
			second := 1 + random.IntN(2)
			if which == 1 {
				second = 2 // a sidecar that is killed twice counts as crash-looping for two minutes
			}
			how += ", then " + s.killOne(second, node)
			s.t.Logf("%s on %s: %s", name, node, edited)
		}
		done := s.awaitProposal(name)
		s.t.Logf("%s on %s: %s killed after %s: %s", name, node, how, pause, done.Status.Phase)
		if out := done.Status.Outputs; out == nil || out.GovParamChange == nil || out.GovParamChange.ProposalID != int64(first+run) {
			s.t.Fatalf("outputs of %s: %+v, want proposal %d: a task before it has sent none or two", name, out, first+run)
		}
		s.awaitInSync(node)
	}
	theReport.figuref(s.t, "proposals under fire, each on chain once", "%d in %.0f s, %d of %d edits taken by a sidecar",
		runs, time.Since(began).Seconds(), taken, edits)
	if edits >= 5 && taken == 0 {
		s.t.Error("no sidecar took an edited task: nothing was proved")
	}
	s.propose("propose-last", "v-0")
	if out := s.awaitTask("propose-last").Status.Outputs; out == nil || out.GovParamChange.ProposalID != int64(first+runs) {
		s.t.Errorf("outputs of the last: %+v, want proposal %d", out, first+runs)
	}
}

func (s *scenario) propose(name, node string) {
	s.t.Helper()
	s.runTask(name, node, func(spec *v1alpha1.SeiNodeTaskSpec) {
		spec.Kind = v1alpha1.TaskKindGovParamChange
		spec.GovParamChange = &v1alpha1.GovParamChange{
			GovTx: s.govTx(), Title: name, Description: "a change", InitialDeposit: deposit,
			Changes: []v1alpha1.ParamChange{{Subspace: "staking", Key: "MaxValidators", Value: rawJSON("36")}},
		}
	})
}

// killOne kills what the number says and says what it was.
func (s *scenario) killOne(which int, node string) string {
	s.t.Helper()
	switch which {
	case 0:
		s.killOperatorAfter(func() {})
		return "operator"
	case 1:
		pod := s.pod(node)
		for _, pid := range processes(pod, []string{"/opt/sei/sidecar", "serve"}) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				s.t.Fatalf("killing the sidecar of %s: %v", node, err)
			}
		}
		return "sidecar"
	}
	// A pod that is recreated also forgets the back-off of the sidecars that were killed.
	pod := s.pod(node)
	if err := s.Delete(s.t.Context(), pod, client.GracePeriodSeconds(0)); err != nil && !apierrors.IsNotFound(err) {
		s.t.Fatal(err)
	}
	await(s.t, inSyncTimeout, "another pod of "+node, func(context.Context) (bool, string, error) {
		now := &corev1.Pod{}
		err := s.get(pod.Name, now)
		return now.UID != pod.UID, "", err
	})
	return "pod"
}
