package look

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/home"
)

const (
	// maxMetrics bounds what is read of seid's metrics.
	maxMetrics = 8 << 20
	// maxStateFiles bounds how many files of a restored state are looked at.
	maxStateFiles = 2000
	// chunkDirs are the directories that seid keeps fetched chunks in.
	chunkDirs = "tm-statesync*"
)

// stateSync gathers what can be seen of a state sync. seid closes its RPC meanwhile and
// keeps its databases locked; its metrics and the files it writes are what is left.
func (l *Look) stateSync(ctx context.Context, set settings) *StateSync {
	if !set.StateSync {
		return nil
	}
	s := &StateSync{Local: set.LocalSnapshot, HasState: hasState(l.home), ChunkFiles: countChunks(set.ChunkDir), Restored: restored(l.home)}
	if set.MetricsURL != "" {
		s.Metrics = scrape(ctx, set.MetricsURL)
	}
	return s
}

// hasState errs on the side of state: then nothing is concluded from its absence.
func hasState(dir home.Dir) bool {
	committed, err := dir.Committed()
	return committed || err != nil
}

// countChunks is the number of chunks in the latest chunk directory; a killed state sync
// leaves its own behind.
func countChunks(parent string) int {
	dirs, err := filepath.Glob(filepath.Join(parent, chunkDirs))
	if err != nil {
		return 0
	}
	var latest string
	var made time.Time
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.ModTime().After(made) {
			latest, made = dir, info.ModTime()
		}
	}
	if latest == "" {
		return 0
	}
	entries, _ := os.ReadDir(latest) // gone with its state sync
	return len(entries)
}

// restored is the size of the state that was written so far. The log of changes is not part
// of it, and a handful of files holds each store.
func restored(dir home.Dir) int64 {
	log := dir.CommitLog()
	var size int64
	files := 0
	_ = filepath.WalkDir(dir.Commits(), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what is renamed meanwhile does not count
		case e.IsDir() && path == log:
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		if files++; files > maxStateFiles {
			return fs.SkipAll
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// scrape reads seid's metrics; nil when they are not served.
func scrape(ctx context.Context, url string) *StateSyncMetrics {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil
	}
	return parseMetrics(io.LimitReader(resp.Body, maxMetrics))
}

// parseMetrics picks the metrics of a state sync out of the text format. seid's namespace
// comes before their names. A counter that was never touched is missing.
func parseMetrics(text io.Reader) *StateSyncMetrics {
	m := &StateSyncMetrics{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		name, value, ok := metric(lines.Text())
		if !ok {
			continue
		}
		switch name {
		case "statesync_total_snapshots":
			m.Snapshots = value
		case "statesync_snapshot_chunk":
			m.Chunks = value
		case "statesync_snapshot_chunk_total":
			m.ChunksTotal = value
		case "statesync_back_filled_blocks":
			m.Backfilled = value
		case "statesync_back_fill_blocks_total":
			m.BackfilledTotal = value
		case "p2p_peers":
			m.Peers = new(int(value))
		}
	}
	return m
}

// metric splits a line into the name without its namespace and the value.
func metric(line string) (name string, value int64, ok bool) {
	if strings.HasPrefix(line, "#") {
		return "", 0, false
	}
	full, _, _ := strings.Cut(line, "{")
	full, _, _ = strings.Cut(full, " ")
	for _, subsystem := range []string{"statesync_", "p2p_"} {
		if i := strings.Index(full, subsystem); i >= 0 {
			name = full[i:]
		}
	}
	if name == "" {
		return "", 0, false
	}
	number, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
	return name, int64(number), err == nil
}
