package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
)

const undoLong = `Go back to an earlier template of a fleet.

Without --to-revision it is the one before the present template. kubectl sei rollout history lists
them. The whole of spec.template is replaced, and the fleet rolls it out within its budget. What is
beside the template stays, such as replicas and settings of single nodes, and so does
spec.template.spec.paused, which reaches all nodes at once. Fields that cannot change back, for
example a volume that has grown, are refused by the API server. If a repository holds the manifest,
change it there too, or the template is replaced again.`

const undoExample = `  kubectl sei rollout undo rpc
  kubectl sei rollout undo rpc --to-revision 3 --dry-run=server -o yaml`

type undo struct {
	edit
	revision int64
}

func newUndo(f *Factory) *cobra.Command {
	u := &undo{edit: edit{Factory: f}}
	cmd := &cobra.Command{
		Use: "undo FLEET", Short: "Go back to an earlier template", Long: undoLong, Example: undoExample,
		Args: cobra.ExactArgs(1), ValidArgsFunction: f.CompleteFleets(),
		RunE: func(cmd *cobra.Command, args []string) error { return u.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().Int64Var(&u.revision, "to-revision", 0, "The revision to go back to. 0 is the one before the current template.")
	u.addFlags(cmd)
	return cmd
}

func (u *undo) run(ctx context.Context, name string) error {
	c, err := u.start()
	if err != nil {
		return err
	}
	snd, revisions, err := c.fleetWithRevisions(ctx, name)
	if err != nil {
		return err
	}
	earlier, err := chooseRevision(snd, revisions, u.revision)
	if err != nil {
		return err
	}
	changes, err := fleet.TemplateChanges(&snd.Spec.Template, earlier.Template)
	if err != nil {
		return err
	}
	if snd.Spec.Paused {
		u.warnf("fleet %s is paused: nodes get the template when it is resumed", snd.Name)
	}
	return u.replaceTemplate(ctx, c, snd, earlier, changes)
}

// replaceTemplate writes a template in place of the one that was seen. If that has changed meanwhile,
// somebody else has decided otherwise.
func (u *undo) replaceTemplate(ctx context.Context, c *Cluster, snd *seiv1.SeiNodeDeployment, to fleet.Revision, changes []string) error {
	seen := snd.Spec.Template.DeepCopy()
	done := fmt.Sprintf("rolled back to revision %d", to.Number)
	if len(changes) > 0 {
		done += ": " + strings.Join(changes, ", ")
	}
	return u.changeIf(ctx, c, snd, done, func() error {
		if !apiequality.Semantic.DeepEqual(seen, &snd.Spec.Template) {
			return errors.New("the template has changed meanwhile: nothing was undone; look at it, and try again")
		}
		snd.Spec.Template = *to.Template.DeepCopy()
		return nil
	})
}

// chooseRevision is the revision of a number, or for 0 the newest one with another template than the
// fleet has. Its template runs or stops the nodes as the present one does: paused goes by no rollout,
// and an undo must not stop the whole fleet at once.
func chooseRevision(snd *seiv1.SeiNodeDeployment, revisions []storedRevision, number int64) (fleet.Revision, error) {
	for _, r := range revisions {
		r.Template = r.Template.DeepCopy()
		r.Template.Spec.Paused = snd.Spec.Template.Spec.Paused
		present := apiequality.Semantic.DeepEqual(r.Template, &snd.Spec.Template)
		switch {
		case number == 0 && !present, number != 0 && r.Number == number && !present:
			return r.Revision, nil
		case number != 0 && r.Number == number:
			return fleet.Revision{}, fmt.Errorf("revision %d is the current template of fleet %s: nothing to undo", number, snd.Name)
		}
	}
	if number == 0 {
		return fleet.Revision{}, fmt.Errorf("fleet %s keeps no earlier template: apply the earlier manifest. "+
			"Only templates that an operator with this feature has seen are kept, as many as spec.revisionHistoryLimit says", snd.Name)
	}
	return fleet.Revision{}, fmt.Errorf("fleet %s has no revision %d: it has %s", snd.Name, number, numbers(revisions))
}

func numbers(revisions []storedRevision) string {
	if len(revisions) == 0 {
		return "none"
	}
	list := make([]string, len(revisions))
	for i, r := range revisions {
		list[i] = fmt.Sprint(r.Number)
	}
	return strings.Join(list, ", ")
}
