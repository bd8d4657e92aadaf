package fleet_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/platform"
)

// The address is of 20 zero bytes, the contract's of 32.
const (
	anAddress  = "sei1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq703fpu"
	aContract  = "sei1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdmrf20"
	anotherOne = "sei1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq703fpu"
)

func TestCheckGenesis_NamesTheFieldAndTheMistake(t *testing.T) {
	cases := map[string]struct {
		change func(*v1alpha1.GenesisCeremony)
		want   string
	}{
		"nothing wrong":    {func(*v1alpha1.GenesisCeremony) {}, ""},
		"stake too high":   {func(g *v1alpha1.GenesisCeremony) { g.StakingAmount = "101usei" }, "accountBalance is below the stakingAmount of 101usei"},
		"stake elsewhere":  {func(g *v1alpha1.GenesisCeremony) { g.StakingAmount = "1uatom" }, "accountBalance is below the stakingAmount of 1uatom"},
		"no stake":         {func(g *v1alpha1.GenesisCeremony) { g.StakingAmount = "0usei" }, `stakingAmount: "0usei" is not more than zero`},
		"balance twice":    {func(g *v1alpha1.GenesisCeremony) { g.AccountBalance = "100usei,1usei" }, "accountBalance: usei appears twice"},
		"mistyped address": {func(g *v1alpha1.GenesisCeremony) { g.Accounts[1].Address = anotherOne }, "accounts[1].address: the checksum of"},
		"other checksum": {func(g *v1alpha1.GenesisCeremony) {
			g.Accounts[0].Address = "sei1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqtnp9y7" // bech32m
		}, "accounts[0].address: the checksum of"},
		"too short": {func(g *v1alpha1.GenesisCeremony) {
			g.Accounts[0].Address = "sei1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqgqm497" // 19 bytes
		}, "is not an address: those are of 20 or 32 bytes"},
		"wrong character": {func(g *v1alpha1.GenesisCeremony) {
			g.Accounts[0].Address = "sei1bqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq703fpu"
		}, "holds the character 'b', which addresses do not have"},
		"other chain": {func(g *v1alpha1.GenesisCeremony) { g.Accounts[0].Address = "cosmos1qqq" }, "accounts[0].address: \"cosmos1qqq\" does not begin with sei1"},
		"vesting too much": {func(g *v1alpha1.GenesisCeremony) {
			g.Accounts[0].Vesting = &v1alpha1.GenesisVesting{Amount: "6usei", EndTime: 1}
		}, "accounts[0].vesting.amount: 6usei is more than the balance"},
		"override of all": {func(g *v1alpha1.GenesisCeremony) {
			g.Overrides = map[string]apiextensionsv1.JSON{"gov": {Raw: []byte("1")}}
		}, "overrides[gov]: a key is module.field"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := &v1alpha1.GenesisCeremony{
				ChainID: "demo", StakingAmount: "10usei", AccountBalance: "100usei,1uusdc",
				Accounts: []v1alpha1.GenesisAccount{
					{Address: anAddress, Balance: "5usei"},
					{Address: aContract, Balance: "5usei", Vesting: &v1alpha1.GenesisVesting{Amount: "5usei", EndTime: 1}},
				},
			}
			tc.change(g)
			err := fleet.CheckGenesis(g)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("CheckGenesis = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestDecideCeremony_RunsOnceAndNeverAgain(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	genesis := func(name string) []corev1.ConfigMap {
		return []corev1.ConfigMap{*storedGenesis(name, "{}", nil)}
	}
	failed := func(ago time.Duration) *v1alpha1.PlanSummary {
		return &v1alpha1.PlanSummary{Outcome: v1alpha1.OutcomeFailed, FinishedAt: metav1.NewTime(now.Add(-ago))}
	}
	cases := map[string]struct {
		change  func(*v1alpha1.SeiNodeDeployment)
		genesis []corev1.ConfigMap
		want    fleet.CeremonyState
		reason  string
	}{
		"no genesis asked for": {func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Genesis = nil }, nil, fleet.CeremonyNone, ""},
		"new fleet":            {func(*v1alpha1.SeiNodeDeployment) {}, nil, fleet.CeremonyDue, fleet.ReasonGenesisCeremony},
		"running":              {func(s *v1alpha1.SeiNodeDeployment) { s.Status.Plan = &v1alpha1.TaskPlan{Phase: v1alpha1.PlanActive} }, nil, fleet.CeremonyRunning, ""},
		"done":                 {func(s *v1alpha1.SeiNodeDeployment) { s.Status.GenesisHash = hashOf("{}") }, genesis("val-genesis"), fleet.CeremonyDone, ""},
		"left by an earlier":   {func(*v1alpha1.SeiNodeDeployment) {}, genesis("val-genesis"), fleet.CeremonyDone, ""},
		"another fleet's":      {func(*v1alpha1.SeiNodeDeployment) {}, genesis("other-genesis"), fleet.CeremonyBlocked, ""},
		"ours by name, without a hash": {
			func(*v1alpha1.SeiNodeDeployment) {}, []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "val-genesis"}}}, fleet.CeremonyBlocked, "",
		},
		"done, lost":         {func(s *v1alpha1.SeiNodeDeployment) { s.Status.GenesisHash = "ab" }, nil, fleet.CeremonyDue, fleet.ReasonGenesisMissing},
		"another operator's": {begunElsewhere, nil, fleet.CeremonyDue, fleet.ReasonGenesisMissing},
		"another operator's, beside a genesis of that chain":      {begunElsewhere, genesis("other-genesis"), fleet.CeremonyDue, fleet.ReasonGenesisMissing},
		"another operator's, and somebody has made the ConfigMap": {begunElsewhere, genesis("val-genesis"), fleet.CeremonyDone, ""},
		"bad input": {func(s *v1alpha1.SeiNodeDeployment) { s.Spec.Genesis.AccountBalance = "0usei" }, nil, fleet.CeremonyBlocked, ""},
		"bad input, but done": {func(s *v1alpha1.SeiNodeDeployment) {
			s.Spec.Genesis.AccountBalance, s.Status.GenesisHash = "0usei", hashOf("{}")
		}, genesis("val-genesis"), fleet.CeremonyDone, ""},
		"failed just now": {func(s *v1alpha1.SeiNodeDeployment) { s.Status.LastPlan = failed(time.Minute) }, nil, fleet.CeremonyPutOff, fleet.ReasonGenesisCeremony},
		"failed long ago": {func(s *v1alpha1.SeiNodeDeployment) { s.Status.LastPlan = failed(time.Hour) }, nil, fleet.CeremonyDue, fleet.ReasonGenesisCeremony},
		"retry asked for": {func(s *v1alpha1.SeiNodeDeployment) {
			s.Status.LastPlan, s.Annotations = failed(0), map[string]string{v1alpha1.AnnotationRetry: "2"}
			s.Status.RetriedFor = "1"
		}, nil, fleet.CeremonyDue, fleet.ReasonGenesisCeremony},
		"retry had already": {func(s *v1alpha1.SeiNodeDeployment) {
			s.Status.LastPlan, s.Annotations = failed(0), map[string]string{v1alpha1.AnnotationRetry: "2"}
			s.Status.RetriedFor = "2"
		}, nil, fleet.CeremonyPutOff, fleet.ReasonGenesisCeremony},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			snd := genesisFleet()
			tc.change(snd)
			got := fleet.DecideCeremony(snd, fleet.CeremonyFacts{Genesis: tc.genesis}, now)
			if got.State != tc.want || got.Reason != tc.reason || (got.State == fleet.CeremonyBlocked) != (got.Message != "") {
				t.Errorf("%+v, want State %v, Reason %v, and a message if it is blocked", got, tc.want, tc.reason)
			}
			if got.State == fleet.CeremonyPutOff && (got.RetryIn <= 0 || got.RetryIn > 5*time.Minute) {
				t.Errorf("tried again in %v", got.RetryIn)
			}
		})
	}
}

// begunElsewhere is what is kept of a fleet whose chain another operator has started.
func begunElsewhere(snd *v1alpha1.SeiNodeDeployment) {
	snd.Status.GenesisConfigMap = fleet.GenesisName(snd.Name)
}

func TestNewCeremony_EveryTaskHasTheCeremonysDeadline(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	snd, cfg := genesisFleet(), platform.Default()
	snd.Spec.Genesis.MaxCeremonyDuration = &metav1.Duration{Duration: time.Minute}
	p := fleet.NewCeremony(snd, cfg, fleet.ReasonGenesisCeremony, now)
	if len(p.Tasks) != 3 {
		t.Fatalf("tasks %+v, want 3 Tasks", p.Tasks)
	}
	for _, task := range p.Tasks {
		if task.Deadline == nil || !task.Deadline.Time.Equal(now.Add(time.Minute)) {
			t.Errorf("%s: deadline %v", task.Type, task.Deadline)
		}
	}
	cfg.Buckets.Genesis = "s3://bucket?region=x"
	if p := fleet.NewCeremony(snd, cfg, "", now); len(p.Tasks) != 4 || p.Tasks[2].Type != fleet.TaskPublishGenesis {
		t.Errorf("with a bucket: %+v", p.Tasks)
	}
	if got := fleet.GenesisAddress(cfg.Buckets.Genesis, "demo"); got != "s3://bucket/demo/genesis.json" {
		t.Errorf("address %s, want %q", got, "s3://bucket/demo/genesis.json")
	}
}

// A ceremony that is paused for longer than it may take does not fail when it continues.
func TestSuspendCeremony_StopsTheClockOfWhatIsLeft(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	snd := genesisFleet()
	p := fleet.NewCeremony(snd, platform.Default(), "", now)
	p.Tasks[0].Status = v1alpha1.TaskComplete
	fleet.SuspendCeremony(p)
	fleet.BoundCeremony(snd, p, now.Add(24*time.Hour))
	if at := p.Tasks[0].Deadline; !at.Time.Equal(now.Add(15 * time.Minute)) {
		t.Errorf("the deadline of a task that is over moved to %v", at)
	}
	for _, task := range p.Tasks[1:] {
		if task.StartedAt != nil || !task.Deadline.Time.Equal(now.Add(24*time.Hour+15*time.Minute)) {
			t.Errorf("%s: started %v, deadline %v", task.Type, task.StartedAt, task.Deadline)
		}
	}
}
