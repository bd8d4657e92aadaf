package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

const rolloutHistoryLong = `List the templates that a fleet keeps, newest first.

CHANGES are the fields in which a template differs from the one before it, and NODES those that have it.
The AGE is that of the revision: a template that came back has a new number and its old age.
--revision prints one template whole.`

const rolloutHistoryExample = `  kubectl sei rollout history rpc
  kubectl sei rollout history rpc --revision 3`

type rolloutHistory struct {
	*Factory
	output   Output
	revision int64
}

// storedRevision is a template that a fleet keeps, and the object that holds it.
type storedRevision struct {
	fleet.Revision
	object *appsv1.ControllerRevision
}

// RevisionEntry is a template of a fleet in the output of rollout history.
type RevisionEntry struct {
	Revision int64       `json:"revision"`
	Name     string      `json:"name"`
	Image    string      `json:"image"`
	Created  metav1.Time `json:"created"`
	// Nodes are those that have the template.
	Nodes []string `json:"nodes,omitempty"`
	// Changes are the fields that differ from the template before.
	Changes []string `json:"changes,omitempty"`
	// Template is there when a single revision was asked for.
	Template *seiv1.SeiNodeTemplate `json:"template,omitempty"`
}

func newRolloutHistory(f *Factory) *cobra.Command {
	h := &rolloutHistory{Factory: f}
	cmd := &cobra.Command{
		Use: "history FLEET", Short: "List the templates that a fleet keeps", Long: rolloutHistoryLong, Example: rolloutHistoryExample,
		Args: cobra.ExactArgs(1), ValidArgsFunction: f.CompleteFleets(),
		RunE: func(cmd *cobra.Command, args []string) error { return h.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().Int64Var(&h.revision, "revision", 0, "Print the template of this revision.")
	h.output.AddFlags(cmd, FormatJSON, FormatYAML, FormatWide, FormatName)
	return cmd
}

func (h *rolloutHistory) run(ctx context.Context, name string) error {
	if err := h.output.Validate(); err != nil {
		return err
	}
	c, err := h.Cluster()
	if err != nil {
		return err
	}
	snd, revisions, err := c.fleetWithRevisions(ctx, name)
	if err != nil {
		return err
	}
	entries, err := c.revisionEntries(ctx, snd, revisions)
	if err != nil {
		return err
	}
	if h.revision != 0 {
		return h.printOne(snd, revisions, entries)
	}
	return h.print(entries)
}

// fleetWithRevisions is a fleet and the templates that it keeps, newest first.
func (c *Cluster) fleetWithRevisions(ctx context.Context, name string) (*seiv1.SeiNodeDeployment, []storedRevision, error) {
	snd, err := c.findFleet(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	revisions, err := c.revisions(ctx, snd)
	return snd, revisions, err
}

// revisions are the templates that a fleet keeps, newest first.
func (c *Cluster) revisions(ctx context.Context, snd *seiv1.SeiNodeDeployment) ([]storedRevision, error) {
	list := &appsv1.ControllerRevisionList{}
	err := c.Client.List(ctx, list, client.InNamespace(snd.Namespace), client.MatchingLabels{seiv1.LabelRevisionOf: snd.Name})
	if err != nil {
		return nil, fmt.Errorf("listing the templates of fleet %s: %w", snd.Name, err)
	}
	var objects []*appsv1.ControllerRevision
	for i := range list.Items {
		if fleet.MayAdopt(snd, "ControllerRevision", &list.Items[i]) == "" {
			objects = append(objects, &list.Items[i])
		}
	}
	fleet.SortRevisions(objects)
	revisions := make([]storedRevision, len(objects))
	for i, object := range objects {
		r, err := fleet.ReadRevision(object)
		if err != nil {
			return nil, err
		}
		revisions[i] = storedRevision{r, object}
	}
	return revisions, nil
}

func (c *Cluster) revisionEntries(ctx context.Context, snd *seiv1.SeiNodeDeployment, revisions []storedRevision) ([]RevisionEntry, error) {
	s := &seen{}
	if err := c.listNodes(ctx, s, client.InNamespace(snd.Namespace), client.MatchingLabels{seiv1.LabelDeployment: snd.Name}); err != nil {
		return nil, err
	}
	plain := make([]fleet.Revision, len(revisions))
	for i, r := range revisions {
		plain[i] = r.Revision
	}
	followed, err := fleet.RevisionsOf(snd, s.nodes, plain)
	if err != nil {
		return nil, err
	}
	entries := make([]RevisionEntry, len(revisions))
	for i, r := range revisions {
		entry := RevisionEntry{Revision: r.Number, Name: r.Name, Image: r.Template.Spec.Image, Created: r.object.CreationTimestamp}
		for _, node := range s.nodes {
			if followed[node.Name] == r.Name {
				entry.Nodes = append(entry.Nodes, node.Name)
			}
		}
		if i+1 < len(revisions) {
			if entry.Changes, err = fleet.TemplateChanges(revisions[i+1].Template, r.Template); err != nil {
				return nil, err
			}
		}
		entries[i] = entry
	}
	return entries, nil
}

func (h *rolloutHistory) print(entries []RevisionEntry) error {
	switch {
	case h.output.Format == FormatName:
		for _, e := range entries {
			if _, err := fmt.Fprintln(h.IO.Out, "controllerrevision.apps/"+e.Name); err != nil {
				return err
			}
		}
		return nil
	case !h.output.Human():
		return h.output.Document(h.IO.Out, entries)
	case len(entries) == 0:
		_, err := fmt.Fprintln(h.IO.ErrOut, "No templates are kept.")
		return err
	}
	t := table{columns: []column{{name: "REVISION"}, {name: "IMAGE"}, {name: "AGE"}, {name: "NODES"}, {name: "CHANGES"}, {name: "NAME", wide: true}}}
	for _, e := range entries {
		age := duration.HumanDuration(h.Clock.Now().Sub(e.Created.Time))
		changes := cut(strings.Join(e.Changes, ", "), historyWidth, h.output.Wide())
		t.add(fmt.Sprint(e.Revision), e.Image, age, cmp.Or(strings.Join(e.Nodes, ","), blank), cmp.Or(changes, blank), e.Name)
	}
	return t.print(h.IO.Out, h.output.Wide())
}

// printOne prints a template, as YAML for people.
func (h *rolloutHistory) printOne(snd *seiv1.SeiNodeDeployment, revisions []storedRevision, entries []RevisionEntry) error {
	for i, r := range revisions {
		if r.Number != h.revision {
			continue
		}
		entries[i].Template = r.Template
		switch {
		case h.output.Format == FormatName:
			return h.print(entries[i : i+1])
		case !h.output.Human():
			return h.output.Document(h.IO.Out, entries[i])
		}
		text, err := yaml.Marshal(r.Template)
		if err != nil {
			return fmt.Errorf("printing the template: %w", err)
		}
		_, err = h.IO.Out.Write(text)
		return err
	}
	return fmt.Errorf("fleet %s has no revision %d: it has %s", snd.Name, h.revision, numbers(revisions))
}
