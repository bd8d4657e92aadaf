package cli

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
)

const rootLong = `Show and operate Sei nodes and their fleets.

What a node itself reports (height, peers, disk) is read through the API server's pod proxy, with the
rights of your kubeconfig. Nothing is installed in the cluster.`

// Main runs the plugin with its arguments and returns its exit code.
func Main(ctx context.Context, version string, args []string) int {
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	f := NewFactory(streams, clock.RealClock{}, os.Getenv)
	root := NewRoot(f, version)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		_, _ = fmt.Fprintln(streams.ErrOut, "error:", err)
	}
	return exitCode(err)
}

// NewRoot is the command `kubectl sei` with all its commands.
func NewRoot(f *Factory, version string) *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-sei",
		Short:         "Show and operate Sei nodes and their fleets",
		Long:          rootLong,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl sei"},
		Version:       buildVersion(version),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(f.IO.In)
	root.SetOut(f.IO.Out)
	root.SetErr(f.IO.ErrOut)
	f.addFlags(root.PersistentFlags())
	_ = root.RegisterFlagCompletionFunc("namespace", f.completeNamespaces)
	for _, add := range commands() {
		root.AddCommand(add(f))
	}
	explainArguments(root)
	return root
}

// explainArguments has every command that is called with too few or too many arguments say how it is called.
func explainArguments(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return fmt.Errorf("%w; usage: %s", err, cmd.UseLine())
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		explainArguments(sub)
	}
}

// buildVersion is the version that was linked in, or what the Go tool recorded.
func buildVersion(linked string) string {
	if linked != "" {
		return linked
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
