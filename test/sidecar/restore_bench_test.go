package sidecar_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/handlertest"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/snapshot/snapshottest"
)

// BenchmarkSnapshotRestore restores a snapshot of 1 GB and reports the most memory
// the sidecar ever had. Run it with -benchtime=1x.
func BenchmarkSnapshotRestore(b *testing.B) {
	for _, compression := range []string{"gz", "zst"} {
		b.Run(compression, func(b *testing.B) { benchmarkRestore(b, compression) })
	}
}

func benchmarkRestore(b *testing.B, compression string) {
	b.Helper()
	const height, size = 100, 1 << 30
	bucket := b.TempDir()
	writeArchive(b, filepath.Join(bucket, "bench-1", "state-sync", "100.tar."+compression), height, size)
	b.SetBytes(size)
	for b.Loop() {
		n := newNode(b, "bench-1", "n", "file://"+bucket)
		restored := do[wire.RestoredSnapshot](n, api.SnapshotRestore, nil)
		if !restored.Verified || restored.Height != height {
			b.Fatalf("restored %+v, want Verified true and Height %v", restored, height)
		}
		b.ReportMetric(float64(peakMemory(b, n.Pid()))/1e6, "MB-peak")
		n.Kill()
	}
}

// writeArchive writes a snapshot of random chunks with its manifest.
func writeArchive(b *testing.B, file string, height, size int64) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	digest := sha256.New()
	counted := io.MultiWriter(f, digest)
	var zipped io.WriteCloser
	if strings.HasSuffix(file, ".zst") {
		zipped, err = zstd.NewWriter(counted)
	} else {
		zipped, err = gzip.NewWriterLevel(counted, gzip.BestSpeed)
	}
	if err != nil {
		b.Fatal(err)
	}
	archive := tar.NewWriter(zipped)
	const chunk = 10 << 20
	content := make([]byte, chunk)
	random := rand.NewChaCha8([32]byte{9})
	manifest := objectstore.Manifest{Height: height, ChainID: "bench-1"}
	index := snapshottest.Snapshot{Height: uint64(height)}
	for manifest.UnpackedSize < size {
		_, _ = random.Read(content)
		err := archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d/1/%d", height, manifest.Files), Typeflag: tar.TypeReg, Mode: 0o644, Size: chunk})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := archive.Write(content); err != nil {
			b.Fatal(err)
		}
		index.Hashes = append(index.Hashes, snapshottest.Of(0, content).Hashes...)
		manifest.Files++
		manifest.UnpackedSize += chunk
	}
	dir := b.TempDir()
	snapshottest.Index(b, filepath.Join(dir, "metadata.db"), index)
	for name, data := range handlertest.Files(b, dir) {
		err := archive.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(data))})
		_, writeErr := archive.Write([]byte(data))
		if err := errors.Join(err, writeErr); err != nil {
			b.Fatal(err)
		}
		manifest.Files++
		manifest.UnpackedSize += int64(len(data))
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		b.Fatal(err)
	}
	if manifest.Size, err = f.Seek(0, io.SeekCurrent); err != nil {
		b.Fatal(err)
	}
	manifest.SHA256 = hex.EncodeToString(digest.Sum(nil))
	data, err := json.Marshal(manifest)
	if err := errors.Join(err, f.Close(), os.WriteFile(file+objectstore.ManifestSuffix, data, 0o600)); err != nil {
		b.Fatal(err)
	}
}

// peakMemory is the high-water mark of a process's resident memory in bytes.
func peakMemory(b *testing.B, pid int) int64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb << 10
		}
	}
	b.Fatal("the kernel does not tell VmHWM")
	return 0
}
