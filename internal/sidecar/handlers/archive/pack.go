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

func (p *packer) tree(source Source) error {
	return filepath.WalkDir(source.Path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := p.ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(source.Path, file)
		if err != nil {
			return err
		}
		return p.add(file, path.Join(source.Name, filepath.ToSlash(rel)), entry)
	})
}

func (p *packer) add(file, name string, entry fs.DirEntry) error {
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
		return p.file(file, header)
	default:
		return fmt.Errorf("%w: %s is neither a file nor a directory", ErrUnsafe, file)
	}
}

func (p *packer) file(file string, header *tar.Header) error {
	f, err := os.Open(file) //nolint:gosec // the node's own snapshot
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
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
