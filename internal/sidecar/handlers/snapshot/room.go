package snapshot

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// spareBytes stay free for the node when an archive's size is not known.
const spareBytes = 64 << 20

// dropUseless gives back the room of what a killed run has left and this one cannot use: what it had
// unpacked, and an archive without the record of how far it got, the beginning of which may be gone.
func dropUseless(dir, target string) error {
	if err := durable.Sweep(filepath.Dir(target), stagingName); err != nil {
		return err
	}
	usable, err := durable.Exists(filepath.Join(dir, partFile))
	if err != nil || usable {
		return err
	}
	return durable.Remove(dir)
}

// checkRoom refuses a restore that cannot fit, before anything is fetched, and says
// whether the archive has to be given back to the volume while it is unpacked.
func checkRoom(dir string, object objectstore.Object, manifest *objectstore.Manifest) (tight bool, err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return false, fmt.Errorf("making the directory of the snapshots: %w", err)
	}
	free, err := durable.Free(filepath.Dir(dir))
	if err != nil {
		return false, err
	}
	have, err := fetched(dir)
	if err != nil {
		return false, err
	}
	left := max(object.Size-have, 0)
	// Chunks are compressed already, so an archive is about as large as what is in it.
	unpacked, spare := object.Size, int64(spareBytes)
	if manifest != nil {
		unpacked, spare = manifest.UnpackedSize, 0
	}
	if left+unpacked+spare <= free {
		return false, nil
	}
	need := left + max(unpacked-object.Size, 0) + spare
	if canPunch(filepath.Dir(dir)) && need <= free {
		return true, nil
	}
	return false, api.Terminal(api.CodePrecondition,
		fmt.Errorf("the snapshot needs %d bytes, the volume has %d left", need, free)).WithHint("use a larger volume")
}

// fetched is how much of a download is on the volume.
func fetched(dir string) (int64, error) {
	info, err := os.Stat(filepath.Join(dir, archiveFile))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("looking at the download: %w", err)
	}
	return info.Size(), nil
}

// canPunch reports whether the file system can give back the beginning of a file.
func canPunch(dir string) bool {
	f, err := os.CreateTemp(dir, durable.TempPrefix+"punch-*")
	if err != nil {
		return false
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	if err := f.Truncate(2 * punchEvery); err != nil {
		return false
	}
	return punch(f, 0, punchEvery) == nil
}

// punchEvery is how much is read before it is given back.
const punchEvery = 16 << 20

func punch(f *os.File, from, length int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, length)
}

// consumed reads a file and gives back what was read.
type consumed struct {
	file          *os.File
	read, punched int64
}

func (c *consumed) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	c.read += int64(n)
	if c.read-c.punched >= punchEvery && (err == nil || errors.Is(err, io.EOF)) {
		if punch(c.file, c.punched, c.read-c.punched) == nil {
			c.punched = c.read
		} else {
			c.punched = math.MaxInt64 // the file system changed its mind; it may still fit
		}
	}
	return n, err
}
