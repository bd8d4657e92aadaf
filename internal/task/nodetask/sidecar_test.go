package nodetask

import (
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// The rest between runs doubles from 5 s to a minute, and follows from what the sidecar says alone.
func TestDueIn_GrowsWithTheRuns(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ended := func(ago time.Duration, run int) api.TaskResult {
		at := now.Add(-ago)
		return api.TaskResult{Status: api.TaskFailed, Run: run, CompletedAt: &at}
	}
	for name, c := range map[string]struct {
		failed api.TaskResult
		want   time.Duration
	}{
		"first run, just now":       {ended(0, 1), 5 * time.Second},
		"first run, a while ago":    {ended(2*time.Second, 1), 3 * time.Second},
		"first run, long ago":       {ended(time.Hour, 1), 0},
		"second run":                {ended(0, 2), 10 * time.Second},
		"fourth run":                {ended(0, 4), 40 * time.Second},
		"fifth run":                 {ended(0, 5), time.Minute},
		"hundredth run":             {ended(0, 100), time.Minute},
		"an older sidecar":          {ended(0, 0), 5 * time.Second},
		"it does not say when":      {api.TaskResult{Run: 1}, 0},
		"its clock is ahead of our": {ended(-time.Hour, 1), 0},
	} {
		if got := dueIn(c.failed, now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// What a sidecar says must not fill up a status.
func TestTransactionDone_LongHash_IsCut(t *testing.T) {
	env := &Env{Task: &v1alpha1.SeiNodeTask{Spec: v1alpha1.SeiNodeTaskSpec{GovVote: &v1alpha1.GovVote{}}}}
	hash := strings.Repeat("A", 1<<20)
	words, err := transactionDone(env, api.TaskResult{Result: []byte(`{"txHash":"` + hash + `","height":7}`)})
	if err != nil || env.Outputs == nil || env.Outputs.GovVote.Height != 7 {
		t.Fatalf("%+v, %v, want no error, Outputs not nil and Height 7", env.Outputs, err)
	}
	if kept := env.Outputs.GovVote.TxHash; len(kept) > maxTxHash || kept == "" || len(words) > 2*maxTxHash {
		t.Errorf("%d bytes of a hash are kept, and %d of words", len(kept), len(words))
	}
}
