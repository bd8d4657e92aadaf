package upgrade_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
)

// recorded is what a real seid answered after a vote for v99 at height 100000.
const recorded = "0a2f0a03763939120b088092b8c398feffffff0118a08d062217" +
	"7b227570677261646554797065223a226d696e6f72227d"

func TestDecodeCurrentPlan(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		want   *upgrade.Plan
		minor  bool
		err    string
	}{
		"nothing planned":      {answer: ""},
		"a minor upgrade":      {answer: recorded, want: &upgrade.Plan{Name: "v99", Height: 100000, Info: `{"upgradeType":"minor"}`}, minor: true},
		"no info":              {answer: "0a070a02763718e807", want: &upgrade.Plan{Name: "v7", Height: 1000}},
		"info that is no JSON": {answer: "0a0c0a02763718e8072203616263", want: &upgrade.Plan{Name: "v7", Height: 1000, Info: "abc"}},
		"cut off":              {answer: recorded[:20], err: "decoding the upgrade plan"},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := hex.DecodeString(tc.answer)
			if err != nil {
				t.Fatal(err)
			}
			got, err := upgrade.DecodeCurrentPlan(raw)
			if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("error %v, want %q", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if got != nil && got.Minor() != tc.minor {
				t.Errorf("minor is %v", got.Minor())
			}
		})
	}
}

func TestDecodeApplied(t *testing.T) {
	// What a real seid answered after u1 at height 42 and u2 at height 957.
	const two = "0a0f0a03017531" + "1208000000000000002a" + "0a0f0a03017532" + "120800000000000003bd"
	for name, tc := range map[string]struct {
		answer string
		want   []upgrade.Applied
		err    string
	}{
		"none":               {answer: ""},
		"newest first":       {answer: two, want: []upgrade.Applied{{Name: "u2", Height: 957}, {Name: "u1", Height: 42}}},
		"a key of elsewhere": {answer: "0a0f0a03027531" + "1208000000000000002a", err: "decoding the applied upgrades"},
		"no height":          {answer: "0a080a03017531" + "12012a", err: "decoding the applied upgrades"},
		"cut off":            {answer: two[:20], err: "decoding the applied upgrades"},
	} {
		raw, err := hex.DecodeString(tc.answer)
		if err != nil {
			t.Fatal(err)
		}
		got, err := upgrade.DecodeApplied(raw)
		if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Fatalf("%s: error %v, want %q", name, err, tc.err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReadStop(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		want    *upgrade.Plan
		err     bool
	}{
		"as seid writes it": {content: `{"name":"v7","height":500,"info":"x"}`, want: &upgrade.Plan{Name: "v7", Height: 500, Info: "x"}},
		"being written":     {content: ""},
		"without a name":    {content: `{"height":5}`},
		"damaged":           {content: `{"na`, err: true},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			if err := os.WriteFile(filepath.Join(data, upgrade.InfoFile), []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := upgrade.ReadStop(data)
			if (err != nil) != tc.err || (got != nil) != (tc.want != nil) {
				t.Fatalf("%+v, %v, want an error: %t and it set: %t", got, err, tc.err, tc.want != nil)
			}
			if got != nil && (got.Plan != *tc.want || got.Written.IsZero()) {
				t.Errorf("%+v, want %+v, and when it was written", got, *tc.want)
			}
		})
	}
	if got, err := upgrade.ReadStop(t.TempDir()); got != nil || err != nil {
		t.Errorf("without a file: %v, %v", got, err)
	}
}
