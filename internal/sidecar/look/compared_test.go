package look

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sei-operator/sei-operator/internal/seid/validator"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

const hash = "10A12548F214FADCC943104A6F536E34A6A3BF59BFB29983BE811F73DF0B4069"

func commitOf(appHash string) func(int64) string {
	return func(height int64) string {
		return fmt.Sprintf(`{"signed_header":{"header":{"height":"%d","app_hash":%q},"commit":{"block_id":{"hash":%q}}}}`, height, appHash, hash)
	}
}

func TestMetrics_Checkpoint_IsTheLastHundredAndItsHash(t *testing.T) {
	s := newSeid(t)
	s.height, s.commits = 1234, commitOf(hash)
	l := s.look()
	want := `
# HELP sei_node_checkpoint_app_hash The first 48 bits of the app hash in the header at that height, as a number.
# TYPE sei_node_checkpoint_app_hash gauge
sei_node_checkpoint_app_hash ` + fmt.Sprint(float64(0x10A12548F214)) + `
# HELP sei_node_checkpoint_height The last height of the node that is a multiple of 100.
# TYPE sei_node_checkpoint_height gauge
sei_node_checkpoint_height 1200
`
	if err := testutil.CollectAndCompare(l, strings.NewReader(want), MetricCheckpointHeight, MetricCheckpointHash); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*fakeSeid){
		"no height to compare yet": func(s *fakeSeid) { s.height = 99 },
		"a block that is pruned":   func(s *fakeSeid) { s.commits = nil },
		"a header without a hash":  func(s *fakeSeid) { s.commits = commitOf("") },
	} {
		s := newSeid(t)
		s.height, s.commits = 1234, commitOf(hash)
		change(s)
		if got := testutil.CollectAndCount(s.look(), MetricCheckpointHeight, MetricCheckpointHash); got != 0 {
			t.Errorf("%s: %d series, want none", name, got)
		}
	}
}

func TestHashNumber_OfWhatIsNoHash_IsNone(t *testing.T) {
	for _, wrong := range []string{"", "10A12548F21", "not hex at all"} {
		if got, ok := hashNumber(wrong); ok {
			t.Errorf("%q is taken for %v", wrong, got)
		}
	}
	a, _ := hashNumber("000000000001FF")
	b, _ := hashNumber("000000000002FF")
	if most, _ := hashNumber("FFFFFFFFFFFF"); a == b || most != 1<<48-1 {
		t.Errorf("%v and %v are told apart by nothing, or the largest is %v", a, b, most)
	}
}

func field(number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
}

func varint(number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), value)
}

// signer makes the seid a validator that the chain's state knows.
func (s *fakeSeid) signer(address []byte, jailed bool, missed uint64) func(*Config) {
	operator := []byte{7, 7}
	params := append(varint(1, 1000), field(2, []byte("50000000000000000"))...)
	record := field(1, []byte("seivaloper1x"))
	if jailed {
		record = append(record, varint(3, 1)...)
	}
	s.stores = map[string]string{
		validator.StakingPath + " " + hex.EncodeToString(validator.OperatorKey(address)):     hex.EncodeToString(operator),
		validator.StakingPath + " " + hex.EncodeToString(validator.Key(operator)):            hex.EncodeToString(record),
		validator.SlashingPath + " " + hex.EncodeToString(validator.SigningInfoKey(address)): hex.EncodeToString(varint(6, missed)),
		validator.ParamsPath + " ": hex.EncodeToString(field(1, params)),
	}
	s.write("config/config.toml", "mode = \"validator\"\n[rpc]\nladdr = \"tcp://0.0.0.0:26657\"\n")
	return func(c *Config) {
		c.ConsensusAddress = func() (string, bool) { return strings.ToUpper(hex.EncodeToString(address)), true }
	}
}

func TestMetrics_OfAValidator_SayHowItStands(t *testing.T) {
	address := []byte(strings.Repeat("a", 20))
	for _, jailed := range []bool{false, true} {
		s := newSeid(t)
		l := s.look(s.signer(address, jailed, 17))
		want := fmt.Sprintf(`
# HELP sei_node_validator_jailed Whether the validator is jailed (1) or not (0).
# TYPE sei_node_validator_jailed gauge
sei_node_validator_jailed %v
# HELP sei_node_validator_missed_blocks Blocks in the slashing window that the validator has missed.
# TYPE sei_node_validator_missed_blocks gauge
sei_node_validator_missed_blocks 17
# HELP sei_node_validator_missed_blocks_allowed Blocks in the slashing window that the validator may miss before it is jailed.
# TYPE sei_node_validator_missed_blocks_allowed gauge
sei_node_validator_missed_blocks_allowed 950
# HELP sei_node_validator_tombstoned Whether the validator is tombstoned for double signing (1) or not (0).
# TYPE sei_node_validator_tombstoned gauge
sei_node_validator_tombstoned 0
`, number(jailed))
		if err := testutil.CollectAndCompare(l, strings.NewReader(want), MetricJailed, MetricMissed, MetricAllowed, MetricTombstoned); err != nil {
			t.Error(err)
		}
	}
}

// The chain is asked for it at a scrape, and by nobody else.
func TestMetrics_OfOthers_SayNothingOfAValidatorAndAskNothing(t *testing.T) {
	address := []byte(strings.Repeat("a", 20))
	s := newSeid(t)
	full := s.look()
	if got := testutil.CollectAndCount(full, MetricJailed); got != 0 {
		t.Errorf("a full node has %d series of %s", got, MetricJailed)
	}
	s = newSeid(t)
	l := s.look(s.signer(address, false, 0))
	s.stores = nil // a key that is no validator's yet
	if got := testutil.CollectAndCount(l, MetricJailed); got != 0 {
		t.Errorf("a key of no validator has %d series of %s", got, MetricJailed)
	}
	s = newSeid(t)
	l = s.look(s.signer(address, false, 0))
	l.Node(t.Context())
	if asked := s.queries[validator.StakingPath]; asked != 0 {
		t.Errorf("a look has asked %d times", asked)
	}
	for range 3 {
		testutil.CollectAndCount(l, MetricJailed)
	}
	if asked := s.queries[validator.StakingPath]; asked != 2 {
		t.Errorf("three scrapes in a moment have asked %d times, want for the operator and for the validator", asked)
	}
}

func TestMetrics_OfADivergedNode(t *testing.T) {
	s := newSeid(t)
	s.state.Divergence = &api.Divergence{Height: 11, Field: "AppHash"}
	want := `
# HELP sei_node_diverged Whether seid refuses a block because its own state differs (1) or not (0).
# TYPE sei_node_diverged gauge
sei_node_diverged 1
`
	if err := testutil.CollectAndCompare(s.look(), strings.NewReader(want), MetricDiverged); err != nil {
		t.Error(err)
	}
}
