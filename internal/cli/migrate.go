package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/cli/lint"
	"github.com/sei-operator/sei-operator/internal/cli/migrate"
	"github.com/sei-operator/sei-operator/internal/platform"
)

const migrateLong = `Report how each object would be migrated when this operator replaces the public operator, whose
kinds have the same names: what is kept and adopted, which pods are restarted, which fields are lost,
and what has to be changed first. Run it while the public operator's CRDs are still installed.

Nothing is changed. The takeover itself is done by the operator once it is installed; the steps are in
docs/how-to/migration.md. The exit code is 1 if something has to be changed or decided first.`

func newMigrate(f *Factory) *cobra.Command {
	var out Output
	var dryRun, all bool
	cmd := &cobra.Command{
		Use:   "migrate --dry-run",
		Short: "Report how each object of the public operator would be migrated",
		Long:  migrateLong,
		Example: `kubectl sei migrate --dry-run -n sei
kubectl sei migrate --dry-run -A -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !dryRun {
				return errors.New("--dry-run is needed: this command says what would happen, and docs/how-to/migration.md what to do")
			}
			if err := out.Validate(); err != nil {
				return err
			}
			cluster, err := f.Cluster()
			if err != nil {
				return err
			}
			namespace := cluster.Namespace
			if all {
				namespace = ""
			}
			return runMigrate(cmd.Context(), f, cluster, &out, namespace)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "Change nothing. The only way in which this command runs.")
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "Look at the objects of all namespaces.")
	out.AddFlags(cmd, FormatJSON, FormatYAML)
	return cmd
}

func runMigrate(ctx context.Context, f *Factory, cluster *Cluster, out *Output, namespace string) error {
	inventory, err := takeInventory(ctx, cluster, namespace)
	if err != nil {
		return err
	}
	linter, err := lint.New()
	if err != nil {
		return err
	}
	findings, err := migrate.Plan(inventory, linter, f.Clock.Now())
	if err != nil {
		return err
	}
	if err := printMigration(f.IO.Out, out, findings); err != nil {
		return err
	}
	if slices.ContainsFunc(findings, migrate.Finding.Blocks) {
		return &ExitError{Code: 1, Err: errors.New("some objects have to be changed or decided on first")}
	}
	return nil
}

func printMigration(w io.Writer, out *Output, findings []migrate.Finding) error {
	if !out.Human() {
		return out.Document(w, append([]migrate.Finding{}, findings...))
	}
	if len(findings) == 0 {
		_, err := fmt.Fprintln(w, "No objects of the public operator were found.")
		return err
	}
	t := table{columns: []column{{name: "OBJECT"}, {name: "ACTION"}, {name: "DETAIL"}}}
	for _, finding := range findings {
		t.add(finding.Object, string(finding.Action), finding.Detail)
	}
	return t.print(w, false)
}

// takeInventory reads everything that a migration is about.
func takeInventory(ctx context.Context, cluster *Cluster, namespace string) (*migrate.Inventory, error) {
	in := &migrate.Inventory{Platform: platform.Default()}
	if operator := findOperator(ctx, cluster, ""); operator != nil {
		in.Platform = operator.config
	}
	for _, kind := range []struct {
		name string
		into *[]unstructured.Unstructured
	}{
		{"SeiNode", &in.Nodes}, {"SeiNodeDeployment", &in.Fleets}, {"SeiNodeTask", &in.Tasks}, {"SeiNetwork", &in.Others}, {"SeiNodeTaskWorkflow", &in.Others},
	} {
		found, err := listKind(ctx, cluster, namespace, kind.name)
		if err != nil {
			return nil, err
		}
		*kind.into = append(*kind.into, found...)
	}
	var sets appsv1.StatefulSetList
	var pods corev1.PodList
	var claims corev1.PersistentVolumeClaimList
	for _, list := range []client.ObjectList{&sets, &pods, &claims} {
		if err := cluster.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("listing what belongs to nodes: %w", err)
		}
	}
	in.StatefulSets, in.Pods, in.Claims = sets.Items, pods.Items, claims.Items
	// Who may not see Leases elsewhere is not warned of a public operator that runs.
	var leases coordinationv1.LeaseList
	if err := cluster.Client.List(ctx, &leases); err == nil {
		in.Leases = leases.Items
	}
	return in, nil
}

// listKind lists objects as they are stored, with fields that this operator does not know. A kind
// that the cluster does not have has none.
func listKind(ctx context.Context, cluster *Cluster, namespace, kind string) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: v1alpha1.GroupVersion.Group, Version: v1alpha1.GroupVersion.Version, Kind: kind + "List"})
	err := cluster.Client.List(ctx, list, client.InNamespace(namespace))
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing %ss: %w", kind, err)
	}
	return list.Items, nil
}
