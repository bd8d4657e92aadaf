package home_test

import (
	"os"
	"testing"
	"time"
)

func TestLastCommit_IsTheTimeOfTheLastChangeInTheLog(t *testing.T) {
	d := makeHome(t)
	if got := d.LastCommit(); !got.IsZero() {
		t.Errorf("without a log: %s", got)
	}
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for name, file := range map[string]struct {
		content string
		at      time.Time
	}{
		"00000000000000000001": {"x", at.Add(-time.Hour)},
		"00000000000000000500": {"x", at},
		"00000000000000000900": {"", at.Add(time.Hour)}, // made when seid started
	} {
		path := d.Path("data/committer.db/changelog", name)
		write(t, path, file.content)
		if err := os.Chtimes(path, file.at, file.at); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.LastCommit(); !got.Equal(at) {
		t.Errorf("last commit %s, want %s", got, at)
	}
	if committed, err := d.Committed(); !committed || err != nil {
		t.Errorf("committed %v, %v", committed, err)
	}
}
