// Package archive packs and unpacks the archives that snapshots travel in, tar.gz and
// tar.zst. An archive comes from a bucket and is not trusted: nothing is written outside the
// target, nothing but plain files and directories is made, and the size is bounded before it
// is believed.
package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// What can be wrong with an archive. Errors of Unpack wrap one of these, or
// carry the error of the source or of the file system.
var (
	ErrUnsafe   = errors.New("unsafe archive")
	ErrTooLarge = errors.New("archive is larger than allowed")
	ErrCorrupt  = errors.New("corrupt archive")
)

const (
	// maxTrailer bounds what may follow the end of the tar stream: padding, not data.
	maxTrailer = 1 << 20
	// maxFiles is how many files an archive may have for which no limit is known. A snapshot has one
	// per 10 MB.
	maxFiles = 1 << 22
	// maxDirs is how many directories an archive may have, whether it names them or not. A snapshot
	// has one per height and format, and one for its index.
	maxDirs = 1 << 10
)

// Limits bound what an archive may contain. Zero means as much as a snapshot may ever have.
type Limits struct {
	Bytes int64
	Files int64
}

// Stats is what an archive contained.
type Stats struct {
	Bytes int64
	Files int64
}

// Unpack writes the files of a tar stream, in gzip or zstd, into target, which has to exist
// and to be empty. On an error target holds rubbish and is the caller's to
// delete.
func Unpack(ctx context.Context, src io.Reader, target string, limits Limits) (Stats, error) {
	root, err := os.OpenRoot(target)
	if err != nil {
		return Stats{}, fmt.Errorf("opening the target: %w", err)
	}
	defer func() { _ = root.Close() }()
	source := &watchedReader{ctx: ctx, src: src}
	zipped, err := decompress(source)
	if err != nil {
		return Stats{}, source.explain("reading the archive's header", err)
	}
	defer func() { _ = zipped.Close() }()
	u := &unpacker{root: root, limits: normal(limits), dirs: map[string]bool{}, buf: make([]byte, 256<<10)}
	files := tar.NewReader(zipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return u.stats, source.explain("reading the next file", err)
		}
		if err := u.entry(header, files); err != nil {
			return u.stats, source.explain("unpacking "+header.Name, err)
		}
	}
	return u.stats, source.explain("reading the end", finish(zipped))
}

func normal(l Limits) Limits {
	if l.Bytes <= 0 {
		l.Bytes = math.MaxInt64
	}
	if l.Files <= 0 {
		l.Files = maxFiles
	}
	return l
}

// finish reads to the end of the compressed stream, because only there its checksum
// is compared.
func finish(zipped io.Reader) error {
	n, err := io.CopyN(io.Discard, zipped, maxTrailer)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil && n == maxTrailer {
		return fmt.Errorf("%w: data after the end of the archive", ErrCorrupt)
	}
	return err
}

type unpacker struct {
	root   *os.Root
	limits Limits
	stats  Stats
	// dirs are the directories that were made.
	dirs map[string]bool
	buf  []byte
}

func (u *unpacker) entry(header *tar.Header, content io.Reader) error {
	name := filepath.FromSlash(path.Clean(header.Name))
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%w: the path leaves the target", ErrUnsafe)
	}
	switch header.Typeflag {
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeDir:
		return u.dir(name, header.FileInfo().Mode())
	case tar.TypeReg:
		return u.file(name, header, content)
	default:
		return fmt.Errorf("%w: only files and directories are allowed, not type %q", ErrUnsafe, header.Typeflag)
	}
}

// dir makes a directory and those above it. Each takes an inode, which a volume may run out of
// while it has bytes to spare, so they are counted.
func (u *unpacker) dir(name string, mode fs.FileMode) error {
	if name == "." || u.dirs[name] {
		return nil
	}
	if strings.Count(name, string(filepath.Separator)) >= maxDirs || len(u.dirs) >= maxDirs {
		return fmt.Errorf("%w: more than %d directories", ErrTooLarge, maxDirs)
	}
	if err := u.dir(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	err := u.root.Mkdir(name, mode.Perm()|0o700)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: a file and a directory have the same name", ErrCorrupt)
	}
	if err == nil {
		u.dirs[name] = true
	}
	return err
}

func (u *unpacker) file(name string, header *tar.Header, content io.Reader) error {
	u.stats.Files++
	if u.stats.Files > u.limits.Files {
		return fmt.Errorf("%w: more than %d files", ErrTooLarge, u.limits.Files)
	}
	if header.Size > u.limits.Bytes-u.stats.Bytes {
		return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, u.limits.Bytes)
	}
	if err := u.dir(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, header.FileInfo().Mode().Perm()|0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: the file is in the archive twice", ErrCorrupt)
	}
	if err != nil {
		return err
	}
	// The writer is wrapped so that CopyBuffer uses our buffer.
	n, err := io.CopyBuffer(struct{ io.Writer }{f}, content, u.buf)
	u.stats.Bytes += n
	return errors.Join(err, f.Close())
}

// watchedReader stops with the context and remembers whether the source itself
// broke, which is not the archive's fault.
type watchedReader struct {
	ctx context.Context //nolint:containedctx // the reader lives as long as one call
	src io.Reader
	err error
}

func (r *watchedReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		r.err = err
		return 0, err
	}
	n, err := r.src.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

func (r *watchedReader) explain(doing string, err error) error {
	_, onDisk := errors.AsType[*fs.PathError](err)
	switch {
	case err == nil:
		return nil
	case r.err != nil:
		return fmt.Errorf("%s: %w", doing, r.err)
	case onDisk || errors.Is(err, ErrUnsafe) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrCorrupt):
		return fmt.Errorf("%s: %w", doing, err)
	default:
		return fmt.Errorf("%s: %w: %w", doing, ErrCorrupt, err)
	}
}
