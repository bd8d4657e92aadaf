package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// fieldOwner is whose fields managedFields names.
const fieldOwner = client.FieldOwner("kubectl-sei")

// The values of --dry-run.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// edit is what all commands have in common that change an object.
type edit struct {
	*Factory
	output Output
	dryRun string
}

func (e *edit) addFlags(cmd *cobra.Command) {
	e.output.AddFlags(cmd, FormatJSON, FormatYAML, FormatName)
	cmd.Flags().StringVar(&e.dryRun, "dry-run", dryRunNone,
		`Must be "none", "client" or "server". client only prints what would be sent; server has the API server check it without storing it.`)
	cmd.Flags().Lookup("dry-run").NoOptDefVal = dryRunClient
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions([]string{dryRunNone, dryRunClient, dryRunServer}, cobra.ShellCompDirectiveNoFileComp))
}

// start checks the flags and connects.
func (e *edit) start() (*Cluster, error) {
	if err := e.output.Validate(); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{dryRunNone, dryRunClient, dryRunServer}, e.dryRun) {
		return nil, fmt.Errorf("--dry-run is %q: want none, client or server", e.dryRun)
	}
	return e.Cluster()
}

// named starts, and finds what an argument names.
func (e *edit) named(ctx context.Context, arg string) (*Cluster, target, error) {
	c, err := e.start()
	if err != nil {
		return nil, target{}, err
	}
	found, err := c.find(ctx, arg)
	return c, found, err
}

// change changes an object and prints it; done says what was done. It is read again and changed again when
// somebody else has written it meanwhile, as the operator does all the time.
func (e *edit) change(ctx context.Context, c *Cluster, obj client.Object, done string, mutate func()) error {
	return e.changeIf(ctx, c, obj, done, func() error { mutate(); return nil })
}

// changeIf is change for what may no longer be wanted when the object was read again.
func (e *edit) changeIf(ctx context.Context, c *Cluster, obj client.Object, done string, mutate func() error) error {
	first := true
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if !first {
			key := client.ObjectKeyFromObject(obj)
			zero(obj)
			if err := c.Client.Get(ctx, key, obj); err != nil {
				return err
			}
		}
		first = false
		before, _ := obj.DeepCopyObject().(client.Object)
		if err := mutate(); err != nil {
			return err
		}
		if apiequality.Semantic.DeepEqual(before, obj) {
			done = "unchanged"
			return nil
		}
		if e.dryRun == dryRunClient {
			return nil
		}
		opts := []client.PatchOption{fieldOwner}
		if e.dryRun == dryRunServer {
			opts = append(opts, client.DryRunAll)
		}
		return c.Client.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), opts...)
	})
	if err != nil {
		return err
	}
	return e.print(c, obj, done)
}

// create makes an object and prints it.
func (e *edit) create(ctx context.Context, c *Cluster, obj client.Object) error {
	opts := []client.CreateOption{fieldOwner}
	if e.dryRun == dryRunServer {
		opts = append(opts, client.DryRunAll)
	}
	if e.dryRun != dryRunClient {
		if err := c.Client.Create(ctx, obj, opts...); err != nil {
			return err
		}
	}
	return e.print(c, obj, "created")
}

func (e *edit) print(c *Cluster, obj client.Object, done string) error {
	switch e.dryRun {
	case dryRunClient:
		done += " (dry run)"
	case dryRunServer:
		done += " (server dry run)"
	}
	return c.print(e.IO.Out, &e.output, obj, done)
}

// print prints an object that was read or written, whose kind typed clients leave out.
func (c *Cluster) print(w io.Writer, output *Output, obj client.Object, done string) error {
	gvk, err := apiutil.GVKForObject(obj, c.Client.Scheme())
	if err != nil {
		return err
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return output.Object(w, obj, done)
}

// warnf tells people about something, beside the output.
func (e *edit) warnf(format string, args ...any) {
	_, _ = fmt.Fprintln(e.IO.ErrOut, "Warning: "+strings.TrimSpace(fmt.Sprintf(format, args...)))
}
