package home

import (
	"os"
	"path/filepath"
	"time"
)

// Commits is the directory of the committed state: snapshots of it, and a log of the
// changes since.
func (d Dir) Commits() string { return d.Path("data", "committer.db") }

// CommitLog is the log of changes in Commits.
func (d Dir) CommitLog() string { return filepath.Join(d.Commits(), "changelog") }

// Committed reports whether the node has committed state.
func (d Dir) Committed() (bool, error) { return d.hasCommittedState() }

// LastCommit is when a change was last added to the log; zero when there is none. seid
// makes and reads the log when it starts, and adds to it only when it commits a block.
func (d Dir) LastCommit() time.Time {
	var last time.Time
	entries, err := os.ReadDir(d.CommitLog())
	if err != nil {
		return last
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > 0 && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}
