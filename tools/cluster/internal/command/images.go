package command

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/host"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/image"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

// LoadImage gives image tarballs to the cluster, so that no registry is needed.
func LoadImage(flags *flag.FlagSet) Run {
	at := place(flags)
	return func(ctx context.Context) error {
		l, err := at()
		if err != nil {
			return err
		}
		if flags.NArg() == 0 {
			return errors.New("name at least one image tarball")
		}
		for _, tarball := range flags.Args() {
			if err := importImage(ctx, l, tarball); err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, "loaded "+tarball)
		}
		return nil
	}
}

// importImage reaches the runtime's socket through the node's own view of the file system.
func importImage(ctx context.Context, l layout.Layout, tarball string) error {
	record, err := host.ReadRecord(l)
	if err != nil {
		return err
	}
	if !record.Running() {
		return fmt.Errorf("no cluster runs in %s: run cluster up", l.Dir)
	}
	socket := fmt.Sprintf("/proc/%d/root%s", record.PID, layout.ContainerdSocket)
	// The timeout is for connecting only: a node that was just killed leaves a socket that nobody answers.
	args := []string{"--address", socket, "--connect-timeout", "2s", "--namespace", "k8s.io", "images", "import", tarball}
	out, err := exec.CommandContext(ctx, "ctr", args...).CombinedOutput() //nolint:gosec // the file is the caller's choice
	if err != nil {
		return fmt.Errorf("loading %s: %w: %s", tarball, err, bytes.TrimSpace(out))
	}
	return nil
}

// BuildImage writes an image tarball from files.
func BuildImage(flags *flag.FlagSet) Run {
	var spec image.Spec
	var programs []string
	flags.StringVar(&spec.Tag, "tag", "", "name of the image, such as sei-operator/manager:dev")
	output := flags.String("output", "", "tarball to write")
	flags.StringVar(&spec.User, "user", "65532:65532", "user and group the image runs as")
	libraryPath := flags.String("library-path", "", "folders, separated by colons, to look for libraries in first")
	flags.Func("file", "SOURCE:TARGET[:MODE], a file of the image; may be repeated", func(value string) error {
		file, err := parseFile(value)
		spec.Files = append(spec.Files, file)
		return err
	})
	flags.Func("program", "SOURCE:TARGET, a program to add with all the libraries it is linked with; may be repeated", func(value string) error {
		file, err := parseFile(value + ":0755")
		spec.Files = append(spec.Files, file)
		programs = append(programs, file.Source)
		return err
	})
	flags.Func("env", "NAME=VALUE; may be repeated", func(value string) error {
		spec.Env = append(spec.Env, value)
		return nil
	})
	flags.Func("entrypoint", "the command, one word at a time; may be repeated", func(value string) error {
		spec.Entrypoint = append(spec.Entrypoint, value)
		return nil
	})
	return func(ctx context.Context) error {
		if spec.Tag == "" || *output == "" || len(spec.Files) == 0 {
			return errors.New("--tag, --output and at least one --file or --program are needed")
		}
		if err := addLibraries(ctx, &spec, programs, *libraryPath); err != nil {
			return err
		}
		if err := image.Write(spec, *output); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "built %s into %s\n", spec.Tag, *output)
		return nil
	}
}

func addLibraries(ctx context.Context, spec *image.Spec, programs []string, libraryPath string) error {
	linked := false
	for _, program := range programs {
		libraries, err := image.Closure(ctx, program, libraryPath)
		if err != nil {
			return err
		}
		spec.Files = append(spec.Files, libraries...)
		linked = linked || len(libraries) > 0
	}
	if linked {
		spec.Env = append(spec.Env, "LD_LIBRARY_PATH="+image.LibraryDir)
	}
	return nil
}

func parseFile(value string) (image.File, error) {
	parts := strings.Split(value, ":")
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" || !strings.HasPrefix(parts[1], "/") {
		return image.File{}, fmt.Errorf("%q: write SOURCE:/ABSOLUTE/TARGET", value)
	}
	mode := uint64(0o644)
	if len(parts) == 3 {
		var err error
		if mode, err = strconv.ParseUint(parts[2], 8, 12); err != nil {
			return image.File{}, fmt.Errorf("%q: the mode is an octal number such as 0755", value)
		}
	}
	return image.File{Source: parts[0], Target: parts[1], Mode: os.FileMode(mode)}, nil
}
