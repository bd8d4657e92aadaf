package stage_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

func TestSynced_FollowsTheMark(t *testing.T) {
	home := t.TempDir()
	want := func(want *stage.Mark) {
		t.Helper()
		synced, err := stage.Synced(home)
		if err != nil || synced != (want != nil) {
			t.Errorf("Synced = %v, %v", synced, err)
		}
		got, err := stage.Read(home)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("mark (-want +got), %v:\n%s", err, diff)
		}
	}
	first := stage.Mark{Time: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC), Height: 7}
	want(nil)
	for _, mark := range []stage.Mark{first, {Time: first.Time.Add(time.Hour), Height: 900}} {
		if err := stage.MarkSynced(home, mark); err != nil {
			t.Fatal(err)
		}
		want(&first)
	}
	for range 2 {
		if err := stage.Forget(home); err != nil {
			t.Fatal(err)
		}
		want(nil)
	}
}

func TestRead_OfADamagedMark_StillIsAMark(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, ".sei-sidecar", "synced")
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if mark, err := stage.Read(home); err != nil || mark == nil {
		t.Errorf("mark %v, %v", mark, err)
	}
}
