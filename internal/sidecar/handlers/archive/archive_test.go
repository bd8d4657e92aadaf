package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/archive"
)

func tarGz(tb testing.TB, headers ...*tar.Header) []byte {
	tb.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, h := range headers {
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(h); err != nil {
			tb.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(bytes.Repeat([]byte("x"), int(h.Size))); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// tree lists what is under dir with sizes, so that a test sees every escape.
func tree(tb testing.TB, dir string) map[string]int64 {
	tb.Helper()
	found := map[string]int64{}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		found[rel] = info.Size()
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

func TestPackThenUnpack_GivesTheSameTree(t *testing.T) {
	for how, magic := range map[archive.Compression]string{archive.Gzip: "\x1f\x8b", archive.Zstd: "\x28\xb5\x2f\xfd"} {
		t.Run(how.Extension(), func(t *testing.T) { packThenUnpack(t, how, magic) })
	}
}

func packThenUnpack(t *testing.T, how archive.Compression, magic string) {
	t.Helper()
	src, dst := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{"100/1/0": "chunk zero", "100/1/1": strings.Repeat("y", 1<<20), "meta/CURRENT": "m"} {
		file := filepath.Join(src, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	sources := []archive.Source{{Path: filepath.Join(src, "100"), Name: "100"}, {Path: filepath.Join(src, "meta"), Name: "metadata.db"}}
	var first, second bytes.Buffer
	packed, err := archive.Pack(t.Context(), &first, how, sources...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Pack(t.Context(), &second, how, sources...); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("packing the same tree twice gave different bytes")
	}
	if !strings.HasPrefix(first.String(), magic) {
		t.Errorf("the archive begins with %x", first.Bytes()[:4])
	}
	unpacked, err := archive.Unpack(t.Context(), &first, dst, archive.Limits(packed))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(packed, unpacked); diff != "" {
		t.Errorf("stats (-packed +unpacked):\n%s", diff)
	}
	want := map[string]int64{"100/1/0": 10, "100/1/1": 1 << 20, "metadata.db/CURRENT": 1}
	if diff := cmp.Diff(want, tree(t, dst)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

func TestUnpack_WritesNothingOutsideTheTarget(t *testing.T) {
	for name, headers := range map[string][]*tar.Header{
		"parent":           {{Name: "../evil", Typeflag: tar.TypeReg, Size: 1}},
		"parent in middle": {{Name: "a/../../evil", Typeflag: tar.TypeReg, Size: 1}},
		"absolute":         {{Name: "/tmp/evil", Typeflag: tar.TypeReg, Size: 1}},
		"symlink out":      {{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, {Name: "a/evil", Typeflag: tar.TypeReg, Size: 1}},
		"symlink in":       {{Name: "b", Typeflag: tar.TypeSymlink, Linkname: "a"}},
		"hard link":        {{Name: "a", Typeflag: tar.TypeLink, Linkname: "../secret"}},
		"device":           {{Name: "a", Typeflag: tar.TypeChar}},
		"fifo":             {{Name: "a", Typeflag: tar.TypeFifo}},
		"directory out":    {{Name: "../evil", Typeflag: tar.TypeDir}},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			target := filepath.Join(parent, "target")
			if err := errors.Join(os.Mkdir(target, 0o750), os.WriteFile(filepath.Join(parent, "secret"), []byte("s"), 0o600)); err != nil {
				t.Fatal(err)
			}
			_, err := archive.Unpack(t.Context(), bytes.NewReader(tarGz(t, headers...)), target, archive.Limits{})
			if !errors.Is(err, archive.ErrUnsafe) {
				t.Errorf("Unpack = %v, want ErrUnsafe", err)
			}
			if diff := cmp.Diff(map[string]int64{"secret": 1}, tree(t, parent)); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnpack_ASymlinkAlreadyInTheTarget_IsNotFollowedOut(t *testing.T) {
	parent := t.TempDir()
	target, outside := filepath.Join(parent, "target"), filepath.Join(parent, "outside")
	if err := errors.Join(os.Mkdir(target, 0o750), os.Mkdir(outside, 0o750), os.Symlink(outside, filepath.Join(target, "a"))); err != nil {
		t.Fatal(err)
	}
	_, err := archive.Unpack(t.Context(), bytes.NewReader(tarGz(t, &tar.Header{Name: "a/evil", Typeflag: tar.TypeReg, Size: 1})), target, archive.Limits{})
	if err == nil {
		t.Error("Unpack went through a symlink")
	}
	if left := tree(t, outside); len(left) != 0 {
		t.Errorf("written outside: %v", left)
	}
}

func TestUnpack_StopsAGzipBombAtTheLimit(t *testing.T) {
	bomb := tarGz(t, &tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 4 << 20}, &tar.Header{Name: "b", Typeflag: tar.TypeReg, Size: 64 << 20})
	target := t.TempDir()
	_, err := archive.Unpack(t.Context(), bytes.NewReader(bomb), target, archive.Limits{Bytes: 5 << 20})
	if !errors.Is(err, archive.ErrTooLarge) {
		t.Fatalf("Unpack = %v, want ErrTooLarge", err)
	}
	if diff := cmp.Diff(map[string]int64{"a": 4 << 20}, tree(t, target)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	many := tarGz(t, &tar.Header{Name: "a", Typeflag: tar.TypeReg}, &tar.Header{Name: "b", Typeflag: tar.TypeReg})
	if _, err := archive.Unpack(t.Context(), bytes.NewReader(many), t.TempDir(), archive.Limits{Files: 1}); !errors.Is(err, archive.ErrTooLarge) {
		t.Errorf("Unpack of too many files = %v, want ErrTooLarge", err)
	}
}

// A directory takes no bytes, and an archive need not name those above its files.
func TestUnpack_CountsDirectories(t *testing.T) {
	const most = 1 << 10
	named, unnamed := make([]*tar.Header, 0, most), make([]*tar.Header, 0, most)
	for i := range most {
		named = append(named, &tar.Header{Name: strconv.Itoa(i), Typeflag: tar.TypeDir})
		unnamed = append(unnamed, &tar.Header{Name: strconv.Itoa(i) + "/0", Typeflag: tar.TypeReg})
	}
	deep := strings.Repeat("a/", most)
	for name, c := range map[string]struct {
		headers []*tar.Header
		want    error
	}{
		"as many as there may be": {named, nil},
		"the same again":          {append(slices.Clone(named), named...), nil},
		"unnamed":                 {unnamed, nil},
		"one more":                {append(slices.Clone(named), &tar.Header{Name: "more", Typeflag: tar.TypeDir}), archive.ErrTooLarge},
		"one more, unnamed":       {append(slices.Clone(unnamed), &tar.Header{Name: "more/0", Typeflag: tar.TypeReg}), archive.ErrTooLarge},
		"deep":                    {[]*tar.Header{{Name: deep + "a/0", Typeflag: tar.TypeReg}}, archive.ErrTooLarge},
		"one in the place of a file": {
			[]*tar.Header{{Name: "a", Typeflag: tar.TypeReg}, {Name: "a/0", Typeflag: tar.TypeReg}}, archive.ErrCorrupt,
		},
	} {
		_, err := archive.Unpack(t.Context(), bytes.NewReader(tarGz(t, c.headers...)), t.TempDir(), archive.Limits{})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: Unpack = %v, want %v", name, err, c.want)
		}
	}
}

// inTheMiddle does something when a megabyte was packed.
type inTheMiddle struct {
	bytes.Buffer
	do func()
}

func (w *inTheMiddle) Write(p []byte) (int, error) {
	if w.do != nil && w.Len() > 1<<20 {
		w.do()
		w.do = nil
	}
	return w.Buffer.Write(p)
}

// Somebody who may write to the snapshot directory replaces a part of it by a link to what they may
// not read, while it is packed.
func TestPack_ReadsNothingOutsideTheSource(t *testing.T) {
	parent := t.TempDir()
	source, outside := filepath.Join(parent, "source"), filepath.Join(parent, "outside")
	large := make([]byte, 8<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(large) // does not compress, so it is written before it ends
	for file, content := range map[string][]byte{
		filepath.Join(source, "100", "1", "0"): large, filepath.Join(source, "100", "1", "1"): []byte("chunk"), filepath.Join(outside, "1"): []byte("hush!"),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(source, "100", "1")
	out := &inTheMiddle{do: func() {
		if err := errors.Join(os.Rename(dir, filepath.Join(parent, "away")), os.Symlink(outside, dir)); err != nil {
			t.Error(err)
		}
	}}
	if _, err := archive.Pack(t.Context(), out, archive.Gzip, archive.Source{Path: filepath.Join(source, "100"), Name: "100"}); err == nil || out.do != nil {
		t.Errorf("Pack = %v, want that it refuses what is outside", err)
	}
}

func TestUnpack_NamesDamagedArchives(t *testing.T) {
	good := tarGz(t, &tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 100 << 10})
	flipped := bytes.Clone(good)
	flipped[len(flipped)-6] ^= 0xff // inside the checksum
	for name, data := range map[string][]byte{
		"empty":          {},
		"not gzip":       []byte("this is not a gzip stream at all"),
		"truncated":      good[:len(good)/2],
		"no end":         good[:len(good)-9],
		"bad checksum":   flipped,
		"file twice":     tarGz(t, &tar.Header{Name: "a", Typeflag: tar.TypeReg}, &tar.Header{Name: "a", Typeflag: tar.TypeReg}),
		"trailing bytes": append(bytes.Clone(good), "garbage"...),
	} {
		_, err := archive.Unpack(t.Context(), bytes.NewReader(data), t.TempDir(), archive.Limits{})
		if !errors.Is(err, archive.ErrCorrupt) {
			t.Errorf("%s: Unpack = %v, want ErrCorrupt", name, err)
		}
	}
}

func TestUnpack_ABrokenSourceIsNotACorruptArchive(t *testing.T) {
	broken := errors.New("connection reset")
	src := io.MultiReader(bytes.NewReader(tarGz(t, &tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 100 << 10})[:64]), iotestErr{broken})
	_, err := archive.Unpack(t.Context(), src, t.TempDir(), archive.Limits{})
	if !errors.Is(err, broken) || errors.Is(err, archive.ErrCorrupt) {
		t.Errorf("Unpack = %v, want the source's error alone", err)
	}
}

type iotestErr struct{ err error }

func (r iotestErr) Read([]byte) (int, error) { return 0, r.err }

func TestUnpack_StopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := archive.Unpack(ctx, bytes.NewReader(tarGz(t)), t.TempDir(), archive.Limits{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Unpack = %v, want cancelled", err)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(tarGz(f, &tar.Header{Name: "100/1/0", Typeflag: tar.TypeReg, Size: 10}))
	f.Add(tarGz(f, &tar.Header{Name: "../evil", Typeflag: tar.TypeReg, Size: 1}))
	f.Add(tarGz(f, &tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, &tar.Header{Name: "a/b", Typeflag: tar.TypeReg, Size: 1}))
	f.Add([]byte("\x1f\x8b"))
	// Raw tar bytes are the interesting part: the fuzzer cannot make a gzip
	// checksum, so they are compressed for it.
	for _, h := range []tar.Header{
		{Name: "100/1/0", Typeflag: tar.TypeReg, Size: 4}, {Name: "a/../../b", Typeflag: tar.TypeReg}, {Name: "d/", Typeflag: tar.TypeDir},
		{Name: "l", Typeflag: tar.TypeLink, Linkname: "../x"},
	} {
		var raw bytes.Buffer
		w := tar.NewWriter(&raw)
		if err := w.WriteHeader(&h); err != nil {
			f.Fatal(err)
		}
		_, _ = w.Write([]byte("data")[:h.Size])
		f.Add(raw.Bytes())
	}
	zipped := gzip.NewWriter(nil) // one for all: it is large
	f.Fuzz(func(t *testing.T, data []byte) {
		parent := t.TempDir()
		target := filepath.Join(parent, "target")
		if err := os.Mkdir(target, 0o750); err != nil {
			t.Fatal(err)
		}
		var wrapped bytes.Buffer
		zipped.Reset(&wrapped)
		if _, err := zipped.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := zipped.Close(); err != nil {
			t.Fatal(err)
		}
		const limit = 1 << 20
		for _, input := range [][]byte{data, wrapped.Bytes()} {
			_, _ = archive.Unpack(t.Context(), bytes.NewReader(input), target, archive.Limits{Bytes: limit, Files: 100})
		}
		var total int64
		for name, size := range tree(t, parent) {
			total += size
			if !strings.HasPrefix(name, "target"+string(filepath.Separator)) {
				t.Fatalf("%s was written outside the target", name)
			}
		}
		if total > 2*limit {
			t.Fatalf("%d bytes were unpacked, the limit is %d", total, limit)
		}
	})
}
