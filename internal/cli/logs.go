package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

const logsLong = `Print the logs of a node's containers and what the operator logged about it, merged by time: seid, the
sidecar, the init containers, and the operator's lines that name the node.

Logs that cannot be read (the operator's log needs permissions in its namespace) are named on standard
error, and the rest is printed.`

// logFlags are those of the command.
type logFlags struct {
	follow, previous  bool
	since             time.Duration
	tail              int64
	sources           []string
	operatorNamespace string
}

func newLogs(f *Factory) *cobra.Command {
	var out Output
	flags := logFlags{}
	cmd := &cobra.Command{
		Use:   "logs NODE",
		Short: "Print the logs of operator, sidecar and seid, merged by time",
		Long:  logsLong,
		Example: `kubectl sei logs rpc-0 --since=10m
kubectl sei logs rpc-0 -f --source=operator,sidecar
kubectl sei logs rpc-0 --previous`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.CompleteNodes(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(out.Validate(), flags.validate()); err != nil {
				return err
			}
			cluster, err := f.Cluster()
			if err != nil {
				return err
			}
			return runLogs(cmd.Context(), f, cluster, &out, &flags, args[0])
		},
	}
	cmd.Flags().BoolVarP(&flags.follow, "follow", "f", false, "Stream new lines, also after a restart or a replacement of the pod.")
	cmd.Flags().BoolVarP(&flags.previous, "previous", "p", false, "Print the containers as they were before their last restart.")
	cmd.Flags().DurationVar(&flags.since, "since", 0, "Only lines that are not older than this, such as 5m.")
	cmd.Flags().Int64Var(&flags.tail, "tail", -1, "Lines of each source to begin with; -1 is all.")
	cmd.Flags().StringSliceVar(&flags.sources, "source", nil, "Only these: operator, or names of containers (seid, sidecar, ...).")
	cmd.Flags().StringVar(&flags.operatorNamespace, "operator-namespace", "", "Namespace of the operator; by default it is looked for in all.")
	out.AddFlags(cmd, FormatJSON)
	return cmd
}

func (l *logFlags) validate() error {
	if l.follow && l.previous {
		return errors.New("--follow and --previous cannot be used together")
	}
	return nil
}

func runLogs(ctx context.Context, f *Factory, cluster *Cluster, out *Output, flags *logFlags, name string) error {
	var node v1alpha1.SeiNode
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: name}
	if err := cluster.Client.Get(ctx, key, &node); err != nil {
		return err
	}
	sources, err := logSources(ctx, cluster, flags, key)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return fmt.Errorf("there is no pod of node %s to read a log of", name)
	}
	reader := &logReader{cluster: cluster, clock: f.Clock, flags: flags, trouble: f.IO.ErrOut}
	show := linePrinter(f, out)
	if flags.follow {
		return reader.follow(ctx, sources, show)
	}
	for _, line := range mergeLines(reader.readAll(ctx, sources)) {
		if err := show(line); err != nil {
			return err
		}
	}
	return nil
}

// sourceColors tell sources apart at a terminal.
var sourceColors = map[string]string{sourceOperator: "35", "seid": "36", "sidecar": "33"}

// linePrinter prints a line for people, or as one JSON object.
func linePrinter(f *Factory, out *Output) func(logLine) error {
	if !out.Human() {
		encoder := json.NewEncoder(f.IO.Out)
		encoder.SetEscapeHTML(false)
		return func(l logLine) error { return encoder.Encode(l) }
	}
	return func(l logLine) error { return printLine(f.IO.Out, f.Color(), l) }
}

func printLine(w io.Writer, color bool, l logLine) error {
	source := fmt.Sprintf("%-9s", l.Source)
	if code := sourceColors[l.Source]; color && code != "" {
		source = "\x1b[" + code + "m" + source + "\x1b[0m"
	}
	_, err := fmt.Fprintf(w, "%s %s %s\n", l.Time.UTC().Format("2006-01-02T15:04:05.000Z"), source, l.Text)
	return err
}
