package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Compression is how an archive is compressed.
type Compression int

// The compressions that archives are packed with.
const (
	Gzip Compression = iota
	Zstd
)

// Extension ends the name of an archive.
func (c Compression) Extension() string {
	if c == Zstd {
		return ".tar.zst"
	}
	return ".tar.gz"
}

// ContentType is the media type of an archive.
func (c Compression) ContentType() string {
	if c == Zstd {
		return "application/zstd"
	}
	return "application/gzip"
}

// packWindow bounds the memory of packing zstd. Chunks of snapshots are compressed already, so
// a larger window would find nothing.
const packWindow = 1 << 20

// compress packs with the least effort: what is in a snapshot is compressed already.
func (c Compression) compress(w io.Writer) (io.WriteCloser, error) {
	if c == Zstd {
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(packWindow), zstd.WithLowerEncoderMem(true))
	}
	return gzip.NewWriterLevel(w, gzip.BestSpeed)
}

// maxWindow bounds the memory of unpacking zstd: it is what `zstd -19` uses. Archives
// made with --long or --ultra need more.
const maxWindow = 8 << 20

// The first bytes by which a compression is known, whatever the file's name.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// decompress unpacks gzip or zstd, told by the first bytes.
func decompress(src io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReaderSize(src, 64<<10)
	start, err := buffered.Peek(len(zstdMagic))
	switch {
	case bytes.HasPrefix(start, gzipMagic):
		return gzip.NewReader(buffered)
	case bytes.Equal(start, zstdMagic):
		return unzstd(buffered)
	case err != nil && len(start) == 0:
		return nil, err
	}
	return nil, fmt.Errorf("%w: it begins with %x, which is neither gzip nor zstd", ErrCorrupt, start)
}

func unzstd(src io.Reader) (io.ReadCloser, error) {
	// One goroutine and small buffers: unpacking waits for the disk anyway.
	reader, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return reader.IOReadCloser(), nil
}
