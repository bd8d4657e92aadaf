package snapshot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/leftovers"
)

// held is a snapshot that stays, whatever seid prunes: links to its chunks, and an index
// that names it alone. It lies beside the snapshots, where reset-data deletes it too.
type held struct {
	dir string
	// height is 0 when no snapshot is complete.
	height int64
	bytes  int64
}

// hold links the first of the heights that is complete. A directory that a killed seid
// left half-made, or that seid is just deleting, is passed over.
func hold(snapshots string, heights []int64) (*held, error) {
	parent := filepath.Dir(snapshots)
	if err := durable.Sweep(parent, leftovers.UploadScratch); err != nil {
		return nil, err
	}
	dir, err := durable.TempDir(parent, leftovers.UploadScratch)
	if err != nil {
		return nil, err
	}
	h := &held{dir: dir}
	if err := h.fill(snapshots, heights); err != nil {
		h.release()
		return nil, err
	}
	return h, nil
}

// SweepUploads removes the links of uploads that a killed process has left: they keep chunks on the
// volume that seid has deleted. The snapshots may be outside of the home. It is called before this
// process uploads anything.
func (t *Tasks) SweepUploads() error {
	dir, err := t.snapshots()
	if err != nil {
		return err
	}
	return durable.Sweep(filepath.Dir(dir), leftovers.UploadScratch)
}

func (h *held) release() { _ = os.RemoveAll(h.dir) }

// errReset ends an upload whose snapshot is being deleted.
var errReset = api.Retryable(api.CodePrecondition, errors.New("the node's data was reset while its snapshot was uploaded"))

// check reports whether the links are still there.
func (h *held) check() error {
	there, err := durable.Exists(h.dir)
	if err == nil && !there {
		err = errReset
	}
	return err
}

func (h *held) fill(snapshots string, heights []int64) error {
	index := filepath.Join(h.dir, indexName)
	named, err := copyIndex(filepath.Join(snapshots, indexName), index)
	if err != nil {
		return err
	}
	for _, height := range heights {
		complete, err := h.link(snapshots, height, named)
		if err != nil {
			return err
		}
		if !complete {
			continue
		}
		h.height = height
		if err := keepOnly(index, func(at uint64) bool { return at == uint64(height) }); err != nil {
			return err
		}
		return removeLogs(index)
	}
	return nil
}

// link makes links to all chunks of a height, and tells whether that is all of them.
func (h *held) link(snapshots string, height int64, named []entry) (complete bool, err error) {
	h.bytes = 0
	for _, e := range named {
		if e.height != uint64(height) {
			continue
		}
		complete = true
		if err := h.linkChunks(snapshots, e); errors.Is(err, os.ErrNotExist) {
			return false, os.RemoveAll(filepath.Join(h.dir, strconv.FormatInt(height, 10)))
		} else if err != nil {
			return false, fmt.Errorf("holding snapshot %d: %w", height, err)
		}
	}
	return complete, nil
}

func (h *held) linkChunks(snapshots string, e entry) error {
	from, to := e.dir(snapshots), e.dir(h.dir)
	if err := os.MkdirAll(to, 0o750); err != nil {
		return err
	}
	for i := range int(e.chunks) {
		chunk := filepath.Join(to, strconv.Itoa(i))
		if err := os.Link(filepath.Join(from, strconv.Itoa(i)), chunk); err != nil {
			return err
		}
		info, err := os.Stat(chunk)
		if err != nil {
			return err
		}
		h.bytes += info.Size()
	}
	return nil
}
