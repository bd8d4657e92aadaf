package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
)

const reportLong = `Write an archive for a support request: objects and events of a namespace and of the operator, logs,
versions, and what check finds.

Secrets are not read; their names are listed. What looks like a secret in a log or an object, or stands
under a name such as passphrase, is replaced by [REDACTED]. Look through the archive before you share
it: image names, addresses and host names stay in it.`

// reportFlags are those of the command.
type reportFlags struct {
	file              string
	since             time.Duration
	tail              int64
	operatorNamespace string
}

// reportWritten is what the command prints of the archive.
type reportWritten struct {
	File     string   `json:"file"`
	Files    int      `json:"files"`
	Problems []string `json:"problems,omitempty"`
}

func newReport(f *Factory) *cobra.Command {
	flags := reportFlags{}
	var output Output
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write an archive of objects, events, logs and versions, without secrets",
		Long:  reportLong,
		Example: `kubectl sei report -n sei
kubectl sei report --since=2h --file=/tmp/report.tar.gz`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch err := output.Validate(); {
			case err != nil:
				return err
			case flags.file == stdin && !output.Human():
				return fmt.Errorf("--file=- and -o %s exclude each other: both print to standard output", output.Format)
			}
			cluster, err := f.Cluster()
			if err != nil {
				return err
			}
			return runReport(cmd.Context(), f, cluster, &output, &flags, cmd.Root().Version)
		},
	}
	cmd.Flags().StringVar(&flags.file, "file", "", "Where to write; - is standard output. By default sei-report-NAMESPACE-TIME.tar.gz.")
	cmd.Flags().DurationVar(&flags.since, "since", 24*time.Hour, "Only lines of logs that are not older than this.")
	cmd.Flags().Int64Var(&flags.tail, "tail", 20000, "Lines of each log, the newest; -1 is all.")
	cmd.Flags().StringVar(&flags.operatorNamespace, "operator-namespace", "", "Namespace of the operator; by default it is looked for in all.")
	output.AddFlags(cmd, FormatJSON, FormatYAML)
	return cmd
}

func runReport(ctx context.Context, f *Factory, cluster *Cluster, output *Output, flags *reportFlags, version string) error {
	name := fmt.Sprintf("sei-report-%s-%s", cluster.Namespace, f.Clock.Now().UTC().Format("20060102-150405"))
	collector := &collector{checkup: checkup{Cluster: cluster, factory: f, version: version}, flags: flags, files: map[string]string{}}
	collector.operator = findOperator(ctx, cluster, flags.operatorNamespace)
	collector.collect(ctx)
	if flags.file == stdin {
		return writeArchive(f.IO.Out, name, f.Clock.Now(), collector.files)
	}
	path := flags.file
	if path == "" {
		path = name + ".tar.gz"
	}
	if err := createArchive(path, func(w io.Writer) error { return writeArchive(w, name, f.Clock.Now(), collector.files) }); err != nil {
		return err
	}
	if !output.Human() {
		return output.Document(f.IO.Out, reportWritten{File: path, Files: len(collector.files), Problems: collector.problems})
	}
	words := fmt.Sprintf("%s: %d files", path, len(collector.files))
	if missing := len(collector.problems); missing > 0 {
		words += fmt.Sprintf("; %d could not be collected, as problems.txt in it says", missing)
	}
	_, err := fmt.Fprintln(f.IO.Out, words)
	return err
}

// createArchive makes a file that only its owner reads. One that is there is not replaced.
func createArchive(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // a file that the user names
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
