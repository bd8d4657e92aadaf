package image

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// LibraryDir is where the libraries of a dynamically linked program go in the image.
const LibraryDir = "/usr/lib/closure"

// Closure lists the libraries a program needs, as files of an image. libraryPath is searched first, as the loader
// does. The loader itself keeps its path, because the program names it; all other libraries go into one folder,
// to which LD_LIBRARY_PATH must point.
func Closure(ctx context.Context, program, libraryPath string) ([]File, error) {
	cmd := exec.CommandContext(ctx, "ldd", program) //nolint:gosec // the program is the caller's choice
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libraryPath, "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		if bytes.Contains(out, []byte("not a dynamic executable")) {
			return nil, nil
		}
		return nil, fmt.Errorf("listing the libraries of %s with ldd: %w: %s", program, err, bytes.TrimSpace(out))
	}
	return parseLdd(program, out)
}

// parseLdd reads lines of the kinds
//
//	linux-vdso.so.1 (0x...)
//	libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x...)
//	libwasmvm.so => not found
//	/lib64/ld-linux-x86-64.so.2 (0x...)
func parseLdd(program string, out []byte) ([]File, error) {
	var files []File
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		name, target, linked := strings.Cut(strings.TrimSpace(lines.Text()), " => ")
		name, _, _ = strings.Cut(name, " ")
		path, _, _ := strings.Cut(target, " (")
		switch {
		case linked && path == "not found":
			return nil, fmt.Errorf("%s needs the library %s, which is not there: add its folder to --library-path", program, name)
		case linked:
			files = append(files, File{Source: path, Target: filepath.Join(LibraryDir, filepath.Base(name)), Mode: 0o644})
		case filepath.IsAbs(name):
			files = append(files, File{Source: name, Target: name, Mode: 0o755})
		}
	}
	return files, lines.Err()
}
