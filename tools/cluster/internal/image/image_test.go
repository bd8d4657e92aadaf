package image

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// entries lists a single-layer image's files as "name mode content".
func entries(t *testing.T, img v1.Image) []string {
	t.Helper()
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("want one layer, got %d, %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = content.Close() }()
	var found []string
	for reader := tar.NewReader(content); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(reader)
		found = append(found, strings.TrimSpace(strings.Join([]string{header.Name, os.FileMode(header.Mode).String(), string(body)}, " ")))
	}
}

func TestWrite_ImageHoldsTheFilesAndTheFoldersAboveThem(t *testing.T) {
	spec := Spec{
		Tag: "example/tool:dev", User: "65532:65532", Entrypoint: []string{"/bin/tool"}, Env: []string{"A=b"},
		Files: []File{
			{Source: writeFile(t, "b", "library"), Target: "/usr/lib/b.so", Mode: 0o644},
			{Source: writeFile(t, "a", "program"), Target: "/bin/tool", Mode: 0o755},
		},
	}
	output := filepath.Join(t.TempDir(), "image.tar")
	if err := Write(spec, output); err != nil {
		t.Fatal(err)
	}
	img, err := tarball.ImageFromPath(output, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"bin/ -rwxr-xr-x", "bin/tool -rwxr-xr-x program", "usr/ -rwxr-xr-x", "usr/lib/ -rwxr-xr-x", "usr/lib/b.so -rw-r--r-- library"}
	if diff := cmp.Diff(want, entries(t, img)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v1.Config{User: spec.User, Entrypoint: spec.Entrypoint, Env: spec.Env}, config.Config); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestWrite_SameFilesGiveTheSameImage(t *testing.T) {
	a, b := writeFile(t, "a", "one"), writeFile(t, "b", "two")
	digest := func(files ...File) string {
		img, err := build(Spec{Tag: "x", Files: files})
		if err != nil {
			t.Fatal(err)
		}
		hash, err := img.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return hash.String()
	}
	first := digest(File{Source: a, Target: "/a", Mode: 0o644}, File{Source: b, Target: "/b", Mode: 0o644})
	second := digest(File{Source: b, Target: "/b", Mode: 0o644}, File{Source: a, Target: "/a", Mode: 0o644})
	if first != second {
		t.Errorf("the order of the files changes the image: %s, %s", first, second)
	}
}

func TestWrite_BadInputIsNamed(t *testing.T) {
	a, b := writeFile(t, "a", "one"), writeFile(t, "b", "two")
	tests := map[string]struct {
		spec Spec
		want string
	}{
		"tag":          {Spec{Tag: "UPPER CASE", Files: []File{{Source: a, Target: "/a"}}}, "parsing the image's tag"},
		"missing file": {Spec{Tag: "x", Files: []File{{Source: "/does/not/exist", Target: "/a"}}}, "/does/not/exist"},
		"two files for one place": {
			Spec{Tag: "x", Files: []File{{Source: a, Target: "/a"}, {Source: b, Target: "/a"}}}, "/a is to be both",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := Write(tc.spec, filepath.Join(t.TempDir(), "image.tar"))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestParseLdd_KeepsTheLoaderInPlaceAndGathersTheRest(t *testing.T) {
	out := `	linux-vdso.so.1 (0x00007ffd1)
	libwasmvm.x86_64.so => /mod/api/libwasmvm.x86_64.so (0x00007f1)
	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f2)
	/lib64/ld-linux-x86-64.so.2 (0x00007f3)
`
	got, err := parseLdd("seid", []byte(out))
	if err != nil {
		t.Fatal(err)
	}
	want := []File{
		{Source: "/mod/api/libwasmvm.x86_64.so", Target: LibraryDir + "/libwasmvm.x86_64.so", Mode: 0o644},
		{Source: "/lib/x86_64-linux-gnu/libc.so.6", Target: LibraryDir + "/libc.so.6", Mode: 0o644},
		{Source: "/lib64/ld-linux-x86-64.so.2", Target: "/lib64/ld-linux-x86-64.so.2", Mode: 0o755},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestParseLdd_MissingLibrary_SaysWhichAndWhatToDo(t *testing.T) {
	_, err := parseLdd("seid", []byte("\tlibwasmvm.x86_64.so => not found\n"))
	if err == nil || !strings.Contains(err.Error(), "libwasmvm.x86_64.so") || !strings.Contains(err.Error(), "--library-path") {
		t.Errorf("got %v", err)
	}
}
