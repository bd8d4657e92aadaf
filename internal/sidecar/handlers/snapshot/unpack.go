package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/archive"
)

const (
	stagingName = "snapshot"
	indexName   = "metadata.db"
)

// staging is a fresh directory on the file system of the snapshots.
func staging(target string) (string, error) {
	return durable.TempDir(filepath.Dir(target), stagingName)
}

// unpack puts the files of the archive into staging. A volume without room for both gets
// the archive back piece by piece, and with it the chance to use it again.
func unpack(ctx context.Context, task engine.Task, from choice, dir, staging string, tight bool) error {
	limits, err := limitsFor(from, staging)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(dir, archiveFile), os.O_RDWR, 0) //nolint:gosec // beside the node's snapshots
	if err != nil {
		return fmt.Errorf("opening the download: %w", err)
	}
	defer func() { _ = file.Close() }()
	var src io.Reader = file
	if tight {
		if err := durable.Remove(filepath.Join(dir, partFile)); err != nil {
			return err
		}
		src = &consumed{file: file}
	}
	progress := newMeter("unpacking "+from.object.Key, 0, from.object.Size, task.Progress)
	_, err = archive.Unpack(ctx, &metered{src: src, at: progress.at}, staging, limits)
	return err
}

// limitsFor bounds an archive by its manifest, or else by the space there is.
func limitsFor(from choice, staging string) (archive.Limits, error) {
	if from.manifest != nil {
		return archive.Limits{Bytes: max(from.manifest.UnpackedSize, 1), Files: max(from.manifest.Files, 1)}, nil
	}
	free, err := durable.Free(staging)
	return archive.Limits{Bytes: max(free-spareBytes, 1)}, err
}

// metered counts what passes through.
type metered struct {
	src io.Reader
	n   int64
	at  func(done int64)
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.src.Read(p)
	m.n += int64(n)
	m.at(m.n)
	return n, err
}

// checkLayout makes sure that the archive is what its name says and that its index fits:
// seid restores the snapshots that the index names, and only those.
func checkLayout(ctx context.Context, staging string, height int64, hashes bool) error {
	wrong := func(format string, args ...any) error {
		return api.Terminal(api.CodeIntegrity, fmt.Errorf(format, args...)).WithHint("the archive is not a snapshot that seid can restore; publish another")
	}
	dir := strconv.FormatInt(height, 10)
	if info, err := os.Stat(filepath.Join(staging, dir)); err != nil || !info.IsDir() {
		return wrong("the archive has no directory %s", dir)
	}
	index := filepath.Join(staging, indexName)
	there, err := durable.Exists(index)
	if err != nil {
		return err
	}
	if !there {
		return wrong("the archive has no %s, so seid would not see the snapshot", indexName)
	}
	named, err := entries(index)
	if err != nil {
		return wrong("the archive's %s cannot be used: %w", indexName, err)
	}
	named = slices.DeleteFunc(named, func(e entry) bool { return e.height != uint64(height) })
	if len(named) == 0 {
		return wrong("the archive's %s does not name snapshot %d, so seid would not see it", indexName, height)
	}
	for _, e := range named {
		if err := checkChunks(ctx, staging, e, hashes); err != nil {
			return errors.Join(ctx.Err(), wrong("the archive does not fit its index: %w", err))
		}
	}
	if err := keepOnly(index, func(h uint64) bool { return h == uint64(height) }); err != nil {
		return wrong("the archive's %s cannot be used: %w", indexName, err)
	}
	return removeLogs(index)
}
