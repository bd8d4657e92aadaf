package stage_test

import (
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

func TestSynced_FollowsTheMark(t *testing.T) {
	home := t.TempDir()
	want := func(want bool) {
		t.Helper()
		if got, err := stage.Synced(home); err != nil || got != want {
			t.Errorf("Synced = %v, %v, want %v", got, err, want)
		}
	}
	want(false)
	for range 2 {
		if err := stage.MarkSynced(home); err != nil {
			t.Fatal(err)
		}
		want(true)
	}
	for range 2 {
		if err := stage.Forget(home); err != nil {
			t.Fatal(err)
		}
		want(false)
	}
}
