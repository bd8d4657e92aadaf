package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sei-operator/sei-operator/internal/reasons"
)

const explainLong = `Explain a reason of a condition or event, or a type of condition: what it means, why it happens and
what to do. Without an argument all are listed. No cluster is needed.`

func newExplain(f *Factory) *cobra.Command {
	var out Output
	cmd := &cobra.Command{
		Use:   "explain [REASON]",
		Short: "Explain a reason of a condition or event: meaning, cause and what to do",
		Long:  explainLong,
		Example: `kubectl sei explain                  # list all
kubectl sei explain GateClosed
kubectl sei explain SigningKeyReady  # a type of condition`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			names, err := reasons.Names()
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return startingWith(names, toComplete), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := out.Validate(); err != nil {
				return err
			}
			if len(args) == 0 {
				return listReasons(f.IO.Out, &out)
			}
			return explainReason(f.IO.Out, &out, args[0])
		},
	}
	out.AddFlags(cmd, FormatJSON, FormatYAML)
	return cmd
}

func listReasons(w io.Writer, out *Output) error {
	names, err := reasons.Names()
	if err != nil {
		return err
	}
	if !out.Human() {
		return out.Document(w, names)
	}
	_, err = fmt.Fprintln(w, strings.Join(names, "\n"))
	return err
}

func explainReason(w io.Writer, out *Output, name string) error {
	explanation, known, err := reasons.Explain(name)
	if err != nil {
		return err
	}
	if !known {
		return unknownReason(name)
	}
	if !out.Human() {
		return out.Document(w, explanation)
	}
	_, err = io.WriteString(w, explanationText(explanation))
	return err
}

func unknownReason(name string) error {
	names, err := reasons.Names()
	if err != nil {
		return err
	}
	similar := slices.DeleteFunc(names, func(known string) bool {
		return !strings.Contains(strings.ToLower(known), strings.ToLower(name))
	})
	if len(similar) == 0 {
		return fmt.Errorf("no reason or condition is called %q: `kubectl sei explain` lists all", name)
	}
	return fmt.Errorf("no reason or condition is called %q: did you mean %s?", name, strings.Join(similar, ", "))
}

// explanationText is what people read: the name, then one paragraph per place where it is used.
func explanationText(e reasons.Explanation) string {
	var b strings.Builder
	fmt.Fprintln(&b, e.Name)
	for _, about := range e.About {
		fmt.Fprintf(&b, "\nCondition of a %s\n", wrap(about, "    "))
	}
	if len(e.Reasons) > 0 {
		fmt.Fprintf(&b, "  Reasons:  %s\n", wrap(strings.Join(e.Reasons, ", "), "            "))
	}
	for _, use := range e.Uses {
		of := "Condition " + use.Of + ", status " + use.Status
		if use.Of == "event" {
			of = "Event of type " + use.Status
		}
		fmt.Fprintf(&b, "\n%s\n  Meaning:  %s\n", of, wrap(use.Meaning, "            "))
		if use.Cause != "" {
			fmt.Fprintf(&b, "  Cause:    %s\n", wrap(use.Cause, "            "))
		}
		fmt.Fprintf(&b, "  Do:       %s\n", wrap(use.Action, "            "))
	}
	return b.String()
}

// wrap breaks text into lines of at most 100 columns; all but the first begin with indent, and the
// first is taken to begin there too.
func wrap(text, indent string) string {
	var b strings.Builder
	column := len(indent)
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > 100:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

func startingWith(names []string, prefix string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(strings.ToLower(name), strings.ToLower(prefix)) })
}
