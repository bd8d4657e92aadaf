package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

const historyLong = `Show what has happened to a node, or to a fleet and its nodes, oldest first.

It is what the cluster still keeps: events of the objects and their pods (an hour, unless the API server
is configured otherwise), the current plan and how the previous one ended, the rollout that is under
way, and SeiNodeTasks.`

const historyExample = `  kubectl sei history rpc-1
  kubectl sei history fleet/rpc -o json`

func newHistory(f *Factory) *cobra.Command {
	output := &Output{}
	cmd := &cobra.Command{
		Use: "history FLEET|NODE", Short: "Show what has happened, as far as the cluster keeps it", Long: historyLong, Example: historyExample,
		Args: cobra.ExactArgs(1), ValidArgsFunction: f.CompleteFleetsAndNodes(),
		RunE: func(cmd *cobra.Command, args []string) error { return f.showHistory(cmd.Context(), output, args[0]) },
	}
	output.AddFlags(cmd, FormatJSON, FormatYAML, FormatWide)
	return cmd
}

func (f *Factory) showHistory(ctx context.Context, output *Output, name string) error {
	c, found, err := f.named(ctx, output, name)
	if err != nil {
		return err
	}
	entries, err := c.history(ctx, found)
	if err != nil {
		return err
	}
	if !output.Human() {
		return output.Document(f.IO.Out, entries)
	}
	if len(entries) == 0 {
		_, err := fmt.Fprintln(f.IO.ErrOut, "No history is kept.")
		return err
	}
	return printHistory(f, entries, output.Wide())
}

// history is what the cluster keeps of a node, or of a fleet and its nodes.
func (c *Cluster) history(ctx context.Context, found target) ([]HistoryEntry, error) {
	var nodes []*seiv1.SeiNode
	var entries []HistoryEntry
	var objects []regarding
	if found.node != nil {
		nodes = []*seiv1.SeiNode{found.node}
	} else {
		s := &seen{}
		if err := c.listNodes(ctx, s, client.InNamespace(c.Namespace), client.MatchingLabels{seiv1.LabelDeployment: found.fleet.Name}); err != nil {
			return nil, err
		}
		nodes = s.nodes
		objects = append(objects, regarding{seiv1.KindSeiNodeDeployment, found.fleet.Name})
		entries = fleetEntries(found.fleet)
	}
	for _, node := range nodes {
		objects = append(objects, regarding{seiv1.KindSeiNode, node.Name}, regarding{"Pod", render.PodName(node)}, regarding{"StatefulSet", node.Name})
		entries = append(entries, planEntries("seinode/"+node.Name, node.Status.Plan, node.Status.LastPlan)...)
	}
	events, err := c.eventsOf(ctx, c.Namespace, objects)
	if err != nil {
		return nil, err
	}
	tasks := &seiv1.SeiNodeTaskList{}
	if err := c.Client.List(ctx, tasks, client.InNamespace(c.Namespace)); err != nil {
		return nil, fmt.Errorf("listing tasks: %w", err)
	}
	entries = slices.Concat(entries, events, taskEntries(tasks.Items, found))
	byTime(entries)
	return entries, nil
}

func fleetEntries(fleet *seiv1.SeiNodeDeployment) []HistoryEntry {
	entries := planEntries("seinodedeployment/"+fleet.Name, fleet.Status.Plan, fleet.Status.LastPlan)
	if r := fleet.Status.Rollout; r != nil {
		entries = append(entries, HistoryEntry{
			Time: r.StartedAt, Object: "seinodedeployment/" + fleet.Name, Type: "Rollout", Reason: string(r.Reason),
			Detail: fmt.Sprintf("began; %d of %d nodes are updated", r.Updated, r.Total),
		})
	}
	return entries
}

func planEntries(object string, plan *seiv1.TaskPlan, last *seiv1.PlanSummary) []HistoryEntry {
	var entries []HistoryEntry
	if last != nil {
		detail := string(last.Outcome)
		if last.FailedTask != "" {
			detail += " at " + last.FailedTask + ": " + last.Error
		}
		entries = append(entries, HistoryEntry{Time: last.FinishedAt, Object: object, Type: "Plan", Reason: last.Reason, Detail: detail})
	}
	if plan != nil && plan.StartedAt != nil {
		entries = append(entries, HistoryEntry{Time: *plan.StartedAt, Object: object, Type: "Plan", Reason: plan.Reason, Detail: "began: " + plan.Message})
	}
	return entries
}

// taskEntries are the begins and ends of the tasks for a node or a fleet.
func taskEntries(tasks []seiv1.SeiNodeTask, found target) []HistoryEntry {
	var entries []HistoryEntry
	for i := range tasks {
		task := &tasks[i]
		if !isFor(task, found) {
			continue
		}
		entry := HistoryEntry{Object: "seinodetask/" + task.Name, Type: "Task", Reason: string(task.Spec.Kind)}
		if task.Status.StartedAt != nil {
			entry.Time, entry.Detail = *task.Status.StartedAt, "began on "+taskTarget(task)
			entries = append(entries, entry)
		}
		if task.Status.CompletedAt != nil {
			entry.Time, entry.Detail = *task.Status.CompletedAt, string(task.Status.Phase)
			if detail := taskDetail(task); detail != "" {
				entry.Detail += ": " + detail
			}
			entries = append(entries, entry)
		}
	}
	return entries
}

func isFor(task *seiv1.SeiNodeTask, found target) bool {
	if found.node != nil {
		return task.Spec.Target.NodeRef.Name == found.node.Name
	}
	return task.Spec.Target.FleetRef.Name == found.fleet.Name || task.Spec.Target.Selector[seiv1.LabelDeployment] == found.fleet.Name
}

func printHistory(f *Factory, entries []HistoryEntry, wide bool) error {
	t := table{columns: []column{{name: "TIME"}, {name: "OBJECT"}, {name: "TYPE"}, {name: "REASON"}, {name: "DETAIL"}}}
	for _, e := range entries {
		detail := cut(e.Detail, historyWidth, wide)
		if e.Count > 1 {
			detail = fmt.Sprintf("(x%d) %s", e.Count, detail)
		}
		t.add(e.Time.UTC().Format(time.RFC3339), e.Object, e.Type, e.Reason, detail)
	}
	return t.print(f.IO.Out, wide)
}

// historyWidth is how much of a sentence history shows without -o wide.
const historyWidth = 120
