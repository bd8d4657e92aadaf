package seid_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid"
)

func TestParseMode_KnownModes_AreReturnedAsTheyAre(t *testing.T) {
	for _, want := range seid.Modes() {
		got, err := seid.ParseMode(string(want))
		if err != nil || got != want {
			t.Errorf("ParseMode(%q) = %q, %v", want, got, err)
		}
	}
}

func TestParseMode_AnythingElse_IsAnErrorThatListsTheModes(t *testing.T) {
	for _, in := range []string{"", "Full", "replayer", " full"} {
		_, err := seid.ParseMode(in)
		if err == nil || !strings.Contains(err.Error(), "validator, full, seed, archive") {
			t.Errorf("ParseMode(%q): got error %v", in, err)
		}
	}
}

func TestConsensusEngineMode_OnlyArchiveHasAnotherName(t *testing.T) {
	want := map[seid.Mode]seid.Mode{
		seid.ModeValidator: seid.ModeValidator, seid.ModeFull: seid.ModeFull,
		seid.ModeSeed: seid.ModeSeed, seid.ModeArchive: seid.ModeFull,
	}
	for mode, engine := range want {
		if got := mode.ConsensusEngineMode(); got != engine {
			t.Errorf("%s: got %s, want %s", mode, got, engine)
		}
	}
}

func TestPorts_PerMode(t *testing.T) {
	all := []int32{8545, 8546, 9090, 1317, 26656, 26657, 26660}
	private := []int32{26656, 26660}
	tests := map[seid.Mode][]int32{
		seid.ModeFull: all, seid.ModeArchive: all,
		seid.ModeValidator: private, seid.ModeSeed: private,
	}
	for mode, want := range tests {
		var got []int32
		for _, p := range seid.Ports(mode) {
			got = append(got, p.Number)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ports of %s (-want +got):\n%s", mode, diff)
		}
	}
}

func TestAllPorts_NamesAndNumbersAreUnique(t *testing.T) {
	seen := map[any]bool{}
	for _, p := range seid.AllPorts() {
		if seen[p.Name] || seen[p.Number] {
			t.Errorf("port %s (%d) is listed twice", p.Name, p.Number)
		}
		seen[p.Name], seen[p.Number] = true, true
	}
}
