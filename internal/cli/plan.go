package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

const planLong = `Show the plan of a node, or of a fleet: why there is one, its steps with their times, and what the
current one waits for. A plan that has ended is kept as one line.`

const planExample = `  kubectl sei plan rpc-1
  kubectl sei plan fleet/val -o yaml`

// Plans are the plan of an object and how the one before ended.
type Plans struct {
	Plan     *seiv1.TaskPlan    `json:"plan,omitempty"`
	LastPlan *seiv1.PlanSummary `json:"lastPlan,omitempty"`
}

func newPlan(f *Factory) *cobra.Command {
	output := &Output{}
	cmd := &cobra.Command{
		Use: "plan FLEET|NODE", Short: "Show the steps of a plan with their times", Long: planLong, Example: planExample,
		Args: cobra.ExactArgs(1), ValidArgsFunction: f.CompleteFleetsAndNodes(),
		RunE: func(cmd *cobra.Command, args []string) error { return f.showPlan(cmd.Context(), output, args[0]) },
	}
	output.AddFlags(cmd, FormatJSON, FormatYAML, FormatWide)
	return cmd
}

func (f *Factory) showPlan(ctx context.Context, output *Output, name string) error {
	_, found, err := f.named(ctx, output, name)
	if err != nil {
		return err
	}
	plans := plansOf(found)
	if !output.Human() {
		return output.Document(f.IO.Out, plans)
	}
	return printPlans(f.IO.Out, plans, f.Clock.Now(), output.Wide())
}

func plansOf(found target) Plans {
	if found.node != nil {
		return Plans{found.node.Status.Plan, found.node.Status.LastPlan}
	}
	return Plans{found.fleet.Status.Plan, found.fleet.Status.LastPlan}
}

func printPlans(w io.Writer, plans Plans, now time.Time, wide bool) error {
	var b strings.Builder
	if plans.Plan == nil {
		b.WriteString("No plan: nothing is missing, or nothing can be done now; see kubectl sei why.\n")
	} else if err := printPlan(&b, plans.Plan, now, wide); err != nil {
		return err
	}
	if last := plans.LastPlan; last != nil {
		fmt.Fprintf(&b, "Previous plan: %s\n", lastPlanMessage(last, now))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func printPlan(b *strings.Builder, plan *seiv1.TaskPlan, now time.Time, wide bool) error {
	d := planDetail(plan, now)
	fmt.Fprintf(b, "%s: %s\n%s for %s, step %d/%d\n\n", plan.Reason, plan.Message, plan.Phase, duration.HumanDuration(d.Elapsed.Duration), d.Step, d.Steps)
	t := table{columns: []column{
		{name: "STEP"}, {name: "TASK"}, {name: "STATUS"}, {name: "ATTEMPT"}, {name: "STARTED"}, {name: "TOOK"},
		{name: "DEADLINE", wide: true}, {name: "ID", wide: true}, {name: "DETAIL"},
	}}
	for i := range plan.Tasks {
		task := &plan.Tasks[i]
		t.add(strconv.Itoa(i+1), task.Type, string(task.Status), attempt(task), clockTime(task.StartedAt), taskTook(task, now),
			clockTime(task.Deadline), task.ID, cmp.Or(task.Message, task.Error, blank))
	}
	err := t.print(b, wide)
	b.WriteByte('\n')
	return err
}

func attempt(task *seiv1.PlannedTask) string {
	if task.Attempt == 0 {
		return blank
	}
	return fmt.Sprintf("%d/%d", task.Attempt, task.MaxRetries+1)
}

// clockTime is a time of today or of another day, in UTC.
func clockTime(t *metav1.Time) string {
	if t == nil {
		return blank
	}
	return t.UTC().Format(time.RFC3339)
}

func taskTook(task *seiv1.PlannedTask, now time.Time) string {
	if task.StartedAt == nil {
		return blank
	}
	if task.CompletedAt != nil {
		now = task.CompletedAt.Time
	}
	return duration.HumanDuration(now.Sub(task.StartedAt.Time))
}

func lastPlanMessage(last *seiv1.PlanSummary, now time.Time) string {
	words := fmt.Sprintf("%s, %s %s ago", last.Reason, last.Outcome, duration.HumanDuration(now.Sub(last.FinishedAt.Time)))
	if last.FailedTask != "" {
		words += " at " + last.FailedTask + ": " + last.Error
	}
	return words
}
