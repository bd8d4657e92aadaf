package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// withoutCluster makes every attempt to connect fail.
func withoutCluster(t *testing.T) *plugin {
	t.Helper()
	p := newPlugin(t)
	p.connect = func() (*Cluster, error) { return nil, errors.New("this command needs no cluster") }
	return p
}

func TestExplain_AReason_SaysWhatItMeansWhyAndWhatToDo(t *testing.T) {
	p := withoutCluster(t)
	golden(t, "explain/reason.txt", p.mustRun(t, "explain", "ImagePullFailed"))
	golden(t, "explain/condition.txt", p.mustRun(t, "explain", "upgradescheduled"))
	golden(t, "explain/reason.json", p.mustRun(t, "explain", "NodesFailed", "-o", "json"))
}

func TestExplain_WithoutArgument_ListsAll(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(withoutCluster(t).mustRun(t, "explain")), "\n")
	if len(lines) < 150 || !slices.IsSorted(lines) || !slices.Contains(lines, "RolloutSuperseded") {
		t.Errorf("listed %d: %v", len(lines), lines)
	}
}

func TestExplain_AnUnknownReason_NamesSimilarOnes(t *testing.T) {
	_, err := withoutCluster(t).run(t, "explain", "peers")
	if err == nil || !strings.Contains(err.Error(), "did you mean NoPeers, PeersChanged?") {
		t.Errorf("got %v", err)
	}
	if _, err = withoutCluster(t).run(t, "explain", "xyzzy"); err == nil || !strings.Contains(err.Error(), "lists all") {
		t.Errorf("got %v", err)
	}
}

func TestExplain_Completion_ProposesReasons(t *testing.T) {
	got, _ := newExplain(withoutCluster(t).Factory).ValidArgsFunction(nil, nil, "nopeer")
	if !slices.Equal(got, []string{"NoPeers"}) {
		t.Errorf("proposed %v", got)
	}
}
