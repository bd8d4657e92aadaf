package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sei-operator/sei-operator/internal/cli/lint"
)

const lintLong = `Check manifests without a cluster: schema, CEL rules and unknown fields as the API server does, then
override keys and values, keys that cannot be set because they control signing, and addresses,
amounts and checksums of a genesis as the operator does. Rules about changes of an object need the
object that is there and are not checked.

An argument is a file, a directory that is searched for .yaml, .yml and .json, or - for standard
input. The exit code is 1 if there is an error; warnings do not count.`

func newLint(f *Factory) *cobra.Command {
	var out Output
	cmd := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Check manifests without a cluster",
		Long:  lintLong,
		Example: `kubectl sei lint fleet.yaml
kubectl sei lint manifests/ -o json
kustomize build . | kubectl sei lint -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := out.Validate(); err != nil {
				return err
			}
			return runLint(f.IO.In, f.IO.Out, &out, args)
		},
	}
	out.AddFlags(cmd, FormatJSON, FormatYAML)
	return cmd
}

func runLint(in io.Reader, w io.Writer, out *Output, args []string) error {
	linter, err := lint.New()
	if err != nil {
		return err
	}
	files, err := manifestFiles(args)
	if err != nil {
		return err
	}
	findings, objects := []lint.Finding{}, 0
	for _, file := range files {
		content, err := readManifest(in, file)
		if err != nil {
			return err
		}
		result := linter.File(file, content)
		objects += result.Objects
		findings = append(findings, result.Findings...)
	}
	if err := printFindings(w, out, findings, objects, len(files)); err != nil {
		return err
	}
	count := len(slices.DeleteFunc(slices.Clone(findings), func(f lint.Finding) bool { return f.Severity != lint.Error }))
	if count > 0 {
		return &ExitError{Code: 1, Err: errors.New(found(count))}
	}
	return nil
}

func printFindings(w io.Writer, out *Output, findings []lint.Finding, objects, files int) error {
	if !out.Human() {
		return out.Document(w, findings)
	}
	for _, f := range findings {
		about := f.Object
		if f.Field != "" {
			about += " " + f.Field
		}
		if about != "" {
			about += ": "
		}
		if _, err := fmt.Fprintf(w, "%s:%d:%d: %s: %s%s\n", f.File, f.Line, f.Column, f.Severity, about, f.Message); err != nil {
			return err
		}
	}
	if len(findings) > 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%d objects in %d files, nothing found\n", objects, files)
	return err
}

func found(count int) string {
	if count == 1 {
		return "1 error was found"
	}
	return fmt.Sprintf("%d errors were found", count)
}

const stdin = "-"

func readManifest(in io.Reader, file string) ([]byte, error) {
	if file == stdin {
		content, err := io.ReadAll(in)
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		return content, nil
	}
	return os.ReadFile(file) //nolint:gosec // a file that the user names
}

// manifestFiles are the files of the arguments; directories are searched, in the order of names.
func manifestFiles(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		if arg == stdin {
			files = append(files, arg)
			continue
		}
		before := len(files)
		err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if path == arg || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, errors.New("no manifest is in " + arg)
		}
	}
	return files, nil
}
