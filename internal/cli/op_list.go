package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

const opListLong = `List SeiNodeTasks, oldest first.

The tasks that a task for several nodes consists of are left out, unless --children is set.`

const opListExample = `  kubectl sei op list
  kubectl sei op list --children -o wide`

type opList struct {
	*Factory
	output        Output
	allNamespaces bool
	children      bool
}

func newOpList(f *Factory) *cobra.Command {
	o := &opList{Factory: f}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List SeiNodeTasks", Long: opListLong, Example: opListExample, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.output.AddFlags(cmd, FormatJSON, FormatYAML, FormatWide, FormatName)
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Show all namespaces.")
	cmd.Flags().BoolVar(&o.children, "children", false, "Also show the child tasks of tasks for several nodes.")
	return cmd
}

func (o *opList) run(ctx context.Context) error {
	if err := o.output.Validate(); err != nil {
		return err
	}
	c, err := o.Cluster()
	if err != nil {
		return err
	}
	scope := client.InNamespace(c.Namespace)
	if o.allNamespaces {
		scope = ""
	}
	tasks := &seiv1.SeiNodeTaskList{}
	if err := c.Client.List(ctx, tasks, scope); err != nil {
		return fmt.Errorf("listing tasks: %w", err)
	}
	tasks.SetGroupVersionKind(seiv1.GroupVersion.WithKind(seiv1.KindSeiNodeTask + "List"))
	tasks.Items = slices.DeleteFunc(tasks.Items, func(t seiv1.SeiNodeTask) bool { return !o.children && t.Labels[seiv1.LabelTask] != "" })
	slices.SortFunc(tasks.Items, func(a, b seiv1.SeiNodeTask) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	for i := range tasks.Items {
		tasks.Items[i].SetGroupVersionKind(seiv1.GroupVersion.WithKind(seiv1.KindSeiNodeTask))
	}
	if !o.output.Human() {
		return o.output.Object(o.IO.Out, tasks, "")
	}
	if len(tasks.Items) == 0 {
		_, err := fmt.Fprintln(o.IO.ErrOut, "No SeiNodeTasks found.")
		return err
	}
	return o.table(tasks.Items)
}

func (o *opList) table(tasks []seiv1.SeiNodeTask) error {
	t := table{columns: []column{
		{name: "NAME"}, {name: "KIND"}, {name: "TARGET"}, {name: "PHASE"}, {name: "NODES"}, {name: "TOOK"}, {name: "AGE"}, {name: "DETAIL"},
	}}
	if o.allNamespaces {
		t.columns = append([]column{{name: "NAMESPACE"}}, t.columns...)
	}
	now := o.Clock.Now()
	for i := range tasks {
		task := &tasks[i]
		nodes := blank
		if n := task.Status.Nodes; n != nil {
			nodes = fmt.Sprintf("%d/%d", n.Complete, n.Total)
		}
		row := []string{
			task.Name, string(task.Spec.Kind), taskTarget(task), cmp.Or(string(task.Status.Phase), "Pending"), nodes, took(task, now),
			duration.HumanDuration(now.Sub(task.CreationTimestamp.Time)), cmp.Or(cut(taskDetail(task), detailWidth, o.output.Wide()), blank),
		}
		if o.allNamespaces {
			row = append([]string{task.Namespace}, row...)
		}
		t.add(row...)
	}
	return t.print(o.IO.Out, o.output.Wide())
}
