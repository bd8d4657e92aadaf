package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// CompletionFunc proposes arguments to a shell.
type CompletionFunc = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// CompleteNodes proposes the names of SeiNodes for the first argument.
func (f *Factory) CompleteNodes() CompletionFunc { return f.completeFirst(&seiv1.SeiNodeList{}) }

// CompleteFleets proposes the names of SeiNodeDeployments for the first argument.
func (f *Factory) CompleteFleets() CompletionFunc {
	return f.completeFirst(&seiv1.SeiNodeDeploymentList{})
}

// CompleteFleetsAndNodes proposes the names of both for the first argument.
func (f *Factory) CompleteFleetsAndNodes() CompletionFunc {
	return f.completeFirst(&seiv1.SeiNodeDeploymentList{}, &seiv1.SeiNodeList{})
}

// CompleteTasks proposes the names of SeiNodeTasks for the first argument.
func (f *Factory) CompleteTasks() CompletionFunc { return f.completeFirst(&seiv1.SeiNodeTaskList{}) }

func (f *Factory) completeFirst(lists ...client.ObjectList) CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		cluster, err := f.Cluster()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names(cmd.Context(), cluster, toComplete, client.InNamespace(cluster.Namespace), lists...)
	}
}

func (f *Factory) completeNamespaces(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	cluster, err := f.Cluster()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names(cmd.Context(), cluster, toComplete, client.InNamespace(""), &corev1.NamespaceList{})
}

// names are those of all objects in the lists that begin with prefix, sorted.
func names(
	ctx context.Context, cluster *Cluster, prefix string, scope client.InNamespace, lists ...client.ObjectList,
) ([]string, cobra.ShellCompDirective) {
	var found []string
	for _, list := range lists {
		if err := cluster.Client.List(ctx, list, scope); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for _, item := range items {
			if obj, ok := item.(client.Object); ok && strings.HasPrefix(obj.GetName(), prefix) {
				found = append(found, obj.GetName())
			}
		}
	}
	slices.Sort(found)
	return found, cobra.ShellCompDirectiveNoFileComp
}
