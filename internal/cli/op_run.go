package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/yaml"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

const opRunLong = `Create a SeiNodeTask, of one of the kinds below or from a file.

A task cannot be changed once it is created; deleting it cancels what it does. With --wait the command
follows it to its end, and fails if the task does.`

const opRunExample = `  # Restart the process of all nodes of a fleet, within its budget
  kubectl sei op run restart-seid fleet/rpc --wait

  # A task from a file, or from standard input
  kubectl sei op run -f vote.yaml`

// opRun is what all kinds of tasks have in common.
type opRun struct {
	edit
	wait        waiting
	file        string
	name        string
	follow      bool
	taskTimeout time.Duration
	ttl         time.Duration
}

func newOpRun(f *Factory) *cobra.Command {
	o := &opRun{edit: edit{Factory: f}}
	cmd := &cobra.Command{
		Use: "run (KIND TARGET | -f FILE)", Short: "Create a SeiNodeTask", Long: opRunLong, Example: opRunExample,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.file == "" {
				return errors.New("name a kind, or a file with -f")
			}
			task, err := o.read()
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), nil, task)
		},
	}
	cmd.Flags().StringVarP(&o.file, "filename", "f", "", "File with a SeiNodeTask; - is standard input.")
	o.addRunFlags(cmd)
	for _, kind := range taskKinds() {
		cmd.AddCommand(newOpKind(f, kind))
	}
	return cmd
}

func (o *opRun) addRunFlags(cmd *cobra.Command) {
	o.addFlags(cmd)
	cmd.Flags().BoolVar(&o.follow, "wait", false, "Follow the task to its end.")
	o.wait.addFlags(cmd)
	cmd.Flags().Lookup("timeout").Usage = "How long to wait, with --wait, before giving up. 0 waits forever. The task continues."
}

func (o *opRun) addTaskFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.name, "name", "", "Name of the SeiNodeTask. Default: the kind and five random characters.")
	cmd.Flags().DurationVar(&o.taskTimeout, "task-timeout", 0, "How long the task may take once it runs. 0 is the default of its kind.")
	cmd.Flags().DurationVar(&o.ttl, "ttl", 0, "Remove the task that long after its end. 0 keeps it.")
}

// newOpKind is the command that makes tasks of one kind.
func newOpKind(f *Factory, kind taskKind) *cobra.Command {
	o := &opRun{edit: edit{Factory: f}}
	cmd := &cobra.Command{
		Use: kind.command + " " + kind.target, Aliases: []string{string(kind.name)}, Short: kind.short, Example: kind.example,
		Args: cobra.ExactArgs(1), ValidArgsFunction: f.CompleteFleetsAndNodes(),
	}
	fill := kind.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := o.start()
		if err != nil {
			return err
		}
		task := &seiv1.SeiNodeTask{Spec: seiv1.SeiNodeTaskSpec{Kind: kind.name}}
		task.Name = cmp.Or(o.name, kind.command+"-"+utilrand.String(5))
		if err := aim(cmd.Context(), c, kind, task, args[0]); err != nil {
			return err
		}
		if err := fill(&task.Spec); err != nil {
			return err
		}
		task.Spec.TimeoutSeconds = int32(o.taskTimeout / time.Second)
		if o.ttl > 0 {
			ttl := int32(o.ttl / time.Second)
			task.Spec.TTLSecondsAfterFinished = &ttl
		}
		return o.run(cmd.Context(), c, task)
	}
	o.addRunFlags(cmd)
	o.addTaskFlags(cmd)
	return cmd
}

// aim sets the target of a task: the node, or the fleet in the way in which the kind takes one.
func aim(ctx context.Context, c *Cluster, kind taskKind, task *seiv1.SeiNodeTask, name string) error {
	found, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	switch {
	case found.node != nil:
		task.Spec.Target.NodeRef.Name = found.node.Name
	case kind.name == seiv1.TaskKindAwaitNodesAtHeight:
		task.Spec.Target.Selector = map[string]string{seiv1.LabelDeployment: found.fleet.Name}
	case kind.target == targetNode:
		return fmt.Errorf("%s is done on a single node, and %s is a fleet", kind.name, found.fleet.Name)
	default:
		task.Spec.Target.FleetRef.Name = found.fleet.Name
	}
	return nil
}

func (o *opRun) read() (*seiv1.SeiNodeTask, error) {
	var text []byte
	var err error
	if o.file == "-" {
		text, err = io.ReadAll(o.IO.In)
	} else {
		text, err = os.ReadFile(o.file)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the task: %w", err)
	}
	task := &seiv1.SeiNodeTask{}
	if err := yaml.UnmarshalStrict(text, task); err != nil {
		return nil, fmt.Errorf("reading the task from %s: %w", o.file, err)
	}
	if task.Kind != seiv1.KindSeiNodeTask || task.APIVersion != seiv1.GroupVersion.String() {
		return nil, fmt.Errorf("%s holds %s %s: want one %s of %s", o.file, task.APIVersion, task.Kind, seiv1.KindSeiNodeTask, seiv1.GroupVersion)
	}
	return task, nil
}

func (o *opRun) run(ctx context.Context, c *Cluster, task *seiv1.SeiNodeTask) error {
	if c == nil {
		var err error
		if c, err = o.start(); err != nil {
			return err
		}
	}
	task.Namespace = cmp.Or(task.Namespace, c.Namespace)
	if err := o.create(ctx, c, task); err != nil {
		return err
	}
	if !o.follow || o.dryRun != dryRunNone {
		return nil
	}
	return o.wait.follow(ctx, o.Factory, c, &o.output, task, func() (string, bool, error) { return taskProgress(task) })
}
