package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

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
