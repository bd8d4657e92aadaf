package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
)

const checkLong = `Check whether this cluster is ready for Sei nodes: version of Kubernetes, storage classes, APIs that
are optional, the operator with its permissions and yours, clocks, and whether the versions of
operator, CRDs and sidecars fit together. Nothing is changed; it sends access reviews.

FAILED is what keeps nodes from working, WARNING what keeps a part from working, and UNKNOWN what you
may not see. The exit code is 1 if something failed.`

// checkStatus is how a check ended.
type checkStatus string

const (
	checkOK      checkStatus = "OK"
	checkWarning checkStatus = "WARNING"
	checkFailed  checkStatus = "FAILED"
	checkUnknown checkStatus = "UNKNOWN"
)

// checkResult is what one check found. Its message says what is and what to do.
type checkResult struct {
	Check   string      `json:"check"`
	Status  checkStatus `json:"status"`
	Message string      `json:"message"`
}

// checkup is what checks look at.
type checkup struct {
	*Cluster
	factory *Factory
	// version is that of the plugin.
	version string
	// operator is nil when none was found or none may be seen.
	operator *installedOperator
}

// check is one of them. Its name stands before everything it finds.
type check struct {
	name string
	run  func(context.Context, *checkup) []checkResult
}

// checks in the order in which a person would look.
func checks() []check {
	return []check{
		{"kubernetes", checkKubernetes},
		{"crds", checkDefinitions},
		{"operator", checkOperator},
		{"operator-permissions", checkOperatorPermissions},
		{"your-permissions", checkOwnPermissions},
		{"storage", checkStorage},
		{"volume-snapshots", checkVolumeSnapshots},
		{"gateway-api", checkGateway},
		{"clock", checkClocks},
		{"sidecars", checkSidecars},
	}
}

func newCheck(f *Factory) *cobra.Command {
	var out Output
	var operatorNamespace string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check whether this cluster is ready for Sei nodes",
		Long:  checkLong,
		Example: `kubectl sei check
kubectl sei check -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.Validate(); err != nil {
				return err
			}
			cluster, err := f.Cluster()
			if err != nil {
				return err
			}
			c := &checkup{Cluster: cluster, factory: f, version: cmd.Root().Version}
			c.operator = findOperator(cmd.Context(), cluster, operatorNamespace)
			return printChecks(f.IO.Out, &out, c.run(cmd.Context()))
		},
	}
	cmd.Flags().StringVar(&operatorNamespace, "operator-namespace", "", "Namespace of the operator; by default it is looked for in all.")
	out.AddFlags(cmd, FormatJSON, FormatYAML)
	return cmd
}

func (c *checkup) run(ctx context.Context) []checkResult {
	var results []checkResult
	for _, check := range checks() {
		for _, r := range check.run(ctx, c) {
			r.Check = check.name
			results = append(results, r)
		}
	}
	return results
}

func printChecks(w io.Writer, out *Output, results []checkResult) error {
	if out.Human() {
		t := table{columns: []column{{name: "CHECK"}, {name: "STATUS"}, {name: "MESSAGE"}}}
		for _, r := range results {
			t.add(r.Check, string(r.Status), r.Message)
		}
		if err := t.print(w, false); err != nil {
			return err
		}
	} else if err := out.Document(w, results); err != nil {
		return err
	}
	if slices.ContainsFunc(results, func(r checkResult) bool { return r.Status == checkFailed }) {
		return &ExitError{Code: 1, Err: errors.New("the cluster is not ready")}
	}
	return nil
}

func passed(format string, args ...any) []checkResult { return one(checkOK, format, args...) }
func warned(format string, args ...any) []checkResult { return one(checkWarning, format, args...) }
func failed(format string, args ...any) []checkResult { return one(checkFailed, format, args...) }
func unseen(format string, args ...any) []checkResult { return one(checkUnknown, format, args...) }

func one(status checkStatus, format string, args ...any) []checkResult {
	return []checkResult{{Status: status, Message: fmt.Sprintf(format, args...)}}
}
