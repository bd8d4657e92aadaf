package look

import (
	"io/fs"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// disk asks the file system, which costs nothing, and gives the last measure of the home,
// which means a walk over all its files.
func (l *Look) disk() *api.Disk {
	var stat unix.Statfs_t
	if err := unix.Statfs(string(l.home), &stat); err != nil {
		l.Log.Warn("looking at the disk", "error", err)
		return nil
	}
	return &api.Disk{
		Size: int64(stat.Blocks) * stat.Bsize,
		Free: int64(stat.Bavail) * stat.Bsize,
		Used: l.used.get("", func() (int64, error) { return usage(string(l.home)), nil }),
	}
}

// usage is what a directory takes on the disk. A file with several names counts once, and
// what goes away meanwhile does not count.
func usage(root string) int64 {
	const blockSize = 512 // of st_blocks, whatever the file system's is
	var total int64
	seen := map[uint64]bool{}
	_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || stat.Nlink > 1 && !e.IsDir() && seen[stat.Ino] {
			return nil
		}
		if stat.Nlink > 1 && !e.IsDir() {
			seen[stat.Ino] = true
		}
		total += stat.Blocks * blockSize
		return nil
	})
	return total
}
