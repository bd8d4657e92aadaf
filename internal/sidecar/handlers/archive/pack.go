package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Source is a file or directory and its name inside the archive.
type Source struct {
	Path string
	Name string
}

// Pack writes the sources as a compressed tar to w. Equal trees give equal bytes: the walk
// is in lexical order and headers carry neither owners nor times.
func Pack(ctx context.Context, w io.Writer, how Compression, sources ...Source) (Stats, error) {
	zipped, err := how.compress(w)
	if err != nil {
		return Stats{}, fmt.Errorf("starting the archive: %w", err)
	}
	p := &packer{ctx: ctx, out: tar.NewWriter(zipped), buf: make([]byte, 256<<10)}
	for _, source := range sources {
		if err := p.tree(source); err != nil {
			return p.stats, fmt.Errorf("packing %s: %w", source.Name, err)
		}
	}
	if err := errors.Join(p.out.Close(), zipped.Close()); err != nil {
		return p.stats, fmt.Errorf("finishing the archive: %w", err)
	}
	return p.stats, nil
}

type packer struct {
	ctx   context.Context //nolint:containedctx // the packer lives as long as one call
	out   *tar.Writer
	stats Stats
	buf   []byte
}

// tree packs a file or directory. Whatever is put in the place of a file while it is packed, nothing
// from outside of the source's directory is read.
func (p *packer) tree(source Source) error {
	root, err := os.OpenRoot(filepath.Dir(source.Path))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	base := filepath.Base(source.Path)
	return fs.WalkDir(root.FS(), base, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := p.ctx.Err(); err != nil {
			return err
		}
		return p.add(root, file, path.Join(source.Name, strings.TrimPrefix(file, base)), entry)
	})
}

func (p *packer) add(root *os.Root, file, name string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	header := &tar.Header{Name: name, Mode: int64(info.Mode().Perm())}
	switch {
	case info.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, name+"/"
		return p.out.WriteHeader(header)
	case info.Mode().IsRegular():
		header.Typeflag, header.Size = tar.TypeReg, info.Size()
		return p.file(root, file, header, info)
	default:
		return fmt.Errorf("%w: %s is neither a file nor a directory", ErrUnsafe, file)
	}
}

func (p *packer) file(root *os.Root, file string, header *tar.Header, seen fs.FileInfo) error {
	// A pipe in the place of the file must not hold us up.
	f, err := root.OpenFile(filepath.FromSlash(file), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !os.SameFile(info, seen) {
		return errors.Join(err, fmt.Errorf("%w: %s was replaced while it was packed", ErrUnsafe, file))
	}
	if err := p.out.WriteHeader(header); err != nil {
		return err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{p.out}, struct{ io.Reader }{f}, p.buf)
	p.stats.Bytes += n
	p.stats.Files++
	if err == nil && n != header.Size {
		return fmt.Errorf("%s changed while it was packed", file)
	}
	return err
}
