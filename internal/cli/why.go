package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

const whyLong = `Explain why a node is not ready: its condition Ready, the steps of its plan that have
not been done, unhealthy conditions, containers that do not run, and warnings.`

const whyExample = `  kubectl sei why rpc-1`

func newWhy(f *Factory) *cobra.Command {
	output := &Output{}
	cmd := &cobra.Command{
		Use: "why NODE", Short: "Explain why a node is not ready", Long: whyLong, Example: whyExample,
		Args: cobra.ExactArgs(1), ValidArgsFunction: f.CompleteNodes(),
		RunE: func(cmd *cobra.Command, args []string) error { return f.showWhy(cmd.Context(), output, args[0]) },
	}
	output.AddFlags(cmd, FormatJSON, FormatYAML)
	return cmd
}

func (f *Factory) showWhy(ctx context.Context, output *Output, name string) error {
	if err := output.Validate(); err != nil {
		return err
	}
	c, err := f.Cluster()
	if err != nil {
		return err
	}
	node, err := c.findNode(ctx, name)
	if err != nil {
		return err
	}
	pods := &corev1.PodList{}
	if err := c.Client.List(ctx, pods, client.InNamespace(node.Namespace), client.MatchingLabels{seiv1.LabelNode: node.Name}); err != nil {
		return fmt.Errorf("listing the pods of %s: %w", node.Name, err)
	}
	objects := []regarding{{seiv1.KindSeiNode, node.Name}, {"StatefulSet", node.Name}}
	found := make([]*corev1.Pod, 0, len(pods.Items))
	for i := range pods.Items {
		found = append(found, &pods.Items[i])
		objects = append(objects, regarding{"Pod", pods.Items[i].Name})
	}
	events, err := c.eventsOf(ctx, node.Namespace, objects)
	if err != nil {
		return err
	}
	warnings := slices.DeleteFunc(events, func(e HistoryEntry) bool { return e.Type != corev1.EventTypeWarning })
	why := whyOf(node, found, warnings, f.Clock.Now())
	why.Upgrade, why.NoEstimate = c.lookAtUpgrade(ctx, node, found, f.Clock.Now())
	if !output.Human() {
		return output.Document(f.IO.Out, why)
	}
	text := whyText(why, f.Clock.Now())
	if f.Color() {
		text = paint(text)
	}
	_, err = io.WriteString(f.IO.Out, text)
	return err
}

func whyText(why *Why, now time.Time) string {
	var b strings.Builder
	is := "is not Ready"
	if why.Ready == "True" {
		is = "is Ready"
	}
	fmt.Fprintf(&b, "%s %s", why.Name, is)
	if why.Since != nil {
		fmt.Fprintf(&b, " for %s", duration.HumanDuration(now.Sub(why.Since.Time)))
	}
	if why.Reason != "" {
		fmt.Fprintf(&b, ": %s", why.Reason)
	}
	b.WriteByte('\n')
	if why.Message != "" {
		fmt.Fprintf(&b, "  %s\n", why.Message)
	}
	if why.Because != "" {
		fmt.Fprintf(&b, "\nMissing steps, because of %s\n", why.Because)
		for _, step := range why.Missing {
			fmt.Fprintf(&b, "  %s: %s\n", step.Step, joined(step.Status, step.Because))
		}
	}
	conditions := saidOnce(why.Conditions, func(c metav1.Condition) (string, string) {
		return fmt.Sprintf("%s is %s", c.Type, c.Status), joined(c.Reason, c.Message)
	})
	section(&b, "Unhealthy conditions", len(conditions), func(i int) string { return conditions[i] })
	section(&b, "Pods", len(why.Pods), func(i int) string { return why.Pods[i] })
	if why.Ready == "True" && why.Because == "" && len(why.Conditions)+len(why.Pods) == 0 {
		b.WriteString("\nNothing is missing.\n")
	}
	upgrade := why.upgradeLines()
	section(&b, "Scheduled upgrade", len(upgrade), func(i int) string { return upgrade[i] })
	section(&b, "Warnings", len(why.Warnings), func(i int) string {
		e := why.Warnings[i]
		return fmt.Sprintf("%s ago, %s: %s", duration.HumanDuration(now.Sub(e.Time.Time)), e.Object, joined(e.Reason, e.Detail))
	})
	return b.String()
}

// upgradeLines say which upgrade is ahead, and why its time is not known.
func (w *Why) upgradeLines() []string {
	if !w.Upgrade.ahead() {
		return nil
	}
	lines := []string{w.Upgrade.words(true)}
	if w.NoEstimate != "" {
		lines = append(lines, "estimated time not known: "+w.NoEstimate)
	}
	return lines
}

// saidOnce has one line, "a, b: words", for all items that say the same, in the order in which it is said first.
func saidOnce[T any](items []T, says func(T) (who, words string)) []string {
	var lines []string
	by := map[string][]string{}
	for _, item := range items {
		who, words := says(item)
		if by[words] == nil {
			lines = append(lines, words)
		}
		by[words] = append(by[words], who)
	}
	for i, words := range lines {
		lines[i] = strings.Join(by[words], ", ") + ": " + words
	}
	return lines
}

func joined(a, b string) string {
	if b == "" {
		return a
	}
	return a + ": " + b
}

func section(b *strings.Builder, title string, lines int, line func(int) string) {
	if lines == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for i := range lines {
		fmt.Fprintf(b, "  %s\n", line(i))
	}
}
