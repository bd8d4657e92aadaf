package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

const statusLong = `Show fleets, their nodes, pods and plans as a tree, with what the nodes themselves report now:
height, lag behind the highest peer, peers, application hash, disk.

These facts are read from the pods through the API server, which needs permission to get pods/proxy. A
fact that is not reported is shown as -, and a line below the table says why.

APP HASH compares the state of a node with what its chain has agreed on, as another node of the table
reports. DAYS LEFT is how long the disk lasts at the pace since the volume was made, and "new" during
its first day.`

const statusExample = `  # Everything in the namespace
  kubectl sei status

  # One fleet, again and again
  kubectl sei status fleet/rpc --watch

  # One node, with full images and sentences
  kubectl sei status rpc-0 -o wide`

type statusOptions struct {
	*Factory
	output        Output
	allNamespaces bool
	watch         bool
	interval      time.Duration
}

func newStatus(f *Factory) *cobra.Command {
	o := &statusOptions{Factory: f}
	cmd := &cobra.Command{
		Use:               "status [FLEET|NODE]",
		Short:             "Show the live state of fleets and nodes",
		Long:              statusLong,
		Example:           statusExample,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: f.CompleteFleetsAndNodes(),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.output.AddFlags(cmd, FormatJSON, FormatYAML, FormatWide, FormatName)
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Show all namespaces.")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "Refresh until interrupted.")
	cmd.Flags().DurationVar(&o.interval, "interval", 2*time.Second, "Time between refreshes, with --watch.")
	return cmd
}

func (o *statusOptions) run(ctx context.Context, args []string) error {
	switch err := o.output.Validate(); {
	case err != nil:
		return err
	case len(args) > 0 && o.allNamespaces:
		return errors.New("a name and --all-namespaces exclude each other")
	case o.watch && !o.output.Human():
		return fmt.Errorf("--watch and -o %s exclude each other", o.output.Format)
	case o.watch && o.interval <= 0:
		return errors.New("--interval has to be more than 0")
	}
	cluster, err := o.Cluster()
	if err != nil {
		return err
	}
	if !o.watch {
		return o.show(ctx, cluster, args, o.IO.Out)
	}
	for {
		if err := o.redraw(ctx, cluster, args); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-o.Clock.After(o.interval):
		}
	}
}

// redraw draws in one write, so that a terminal does not flicker. A look that fails is shown and tried
// again: a watch outlives an API server that restarts.
func (o *statusOptions) redraw(ctx context.Context, cluster *Cluster, args []string) error {
	var screen bytes.Buffer
	if o.Terminal() {
		screen.WriteString("\x1b[H\x1b[2J")
	}
	fmt.Fprintf(&screen, "%s\n\n", o.Clock.Now().UTC().Format(time.RFC3339))
	if err := o.show(ctx, cluster, args, &screen); err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // interrupted, which is how a watch ends
		}
		fmt.Fprintln(&screen, "error:", err)
	}
	screen.WriteByte('\n')
	_, err := screen.WriteTo(o.IO.Out)
	return err
}

func (o *statusOptions) show(ctx context.Context, cluster *Cluster, args []string, w io.Writer) error {
	found, err := cluster.look(ctx, args, o.allNamespaces)
	if err != nil {
		return err
	}
	switch o.output.Format {
	case FormatJSON, FormatYAML:
		return o.output.Document(w, found.report(o.Clock.Now()))
	case FormatName:
		return found.printNames(w)
	}
	if len(found.fleets)+len(found.nodes) == 0 {
		_, err := fmt.Fprintf(o.IO.ErrOut, "No SeiNodes or SeiNodeDeployments found%s.\n", o.where(cluster))
		return err
	}
	var text bytes.Buffer
	if err := printStatus(&text, found.report(o.Clock.Now()), o.output.Wide(), o.allNamespaces, o.TerminalWidth()); err != nil {
		return err
	}
	shown := text.String()
	if o.Color() {
		shown = paintTable(shown)
	}
	_, err = io.WriteString(w, shown)
	return err
}

func (o *statusOptions) where(cluster *Cluster) string {
	if o.allNamespaces {
		return ""
	}
	return " in namespace " + cluster.Namespace
}

func (s *seen) printNames(w io.Writer) error {
	for _, fleet := range s.fleets {
		if _, err := fmt.Fprintln(w, "seinodedeployment.sei.io/"+fleet.Name); err != nil {
			return err
		}
	}
	for _, node := range s.nodes {
		if _, err := fmt.Fprintln(w, "seinode.sei.io/"+node.Name); err != nil {
			return err
		}
	}
	return nil
}
