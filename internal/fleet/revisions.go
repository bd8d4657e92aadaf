package fleet

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// revisionDigits is how much of a template's SHA-256 names its revision, in hex digits: 128 bits, so
// that no two templates share a name.
const revisionDigits = 32

var revisionName = regexp.MustCompile(fmt.Sprintf(`^(.+)-[0-9a-f]{%d}$`, revisionDigits))

// RevisionName is the name of the ControllerRevision that holds a template of a fleet, given as JSON.
func RevisionName(fleet string, template []byte) string {
	sum := sha256.Sum256(template)
	return fleet + "-" + hex.EncodeToString(sum[:])[:revisionDigits]
}

// ParseRevisionName finds the fleet that a ControllerRevision of this name would belong to.
func ParseRevisionName(name string) (fleet string, ok bool) {
	match := revisionName.FindStringSubmatch(name)
	if match == nil {
		return "", false
	}
	return match[1], true
}

// Revision is a template that a fleet has or had.
type Revision struct {
	// Name is that of the ControllerRevision.
	Name string
	// Number is higher for templates that were asked for later.
	Number   int64
	Template *v1alpha1.SeiNodeTemplate
}

// ReadRevision reads what a ControllerRevision holds.
func ReadRevision(stored *appsv1.ControllerRevision) (Revision, error) {
	r := Revision{Name: stored.Name, Number: stored.Revision, Template: &v1alpha1.SeiNodeTemplate{}}
	if err := json.Unmarshal(stored.Data.Raw, r.Template); err != nil {
		return r, fmt.Errorf("reading the template in ControllerRevision %s: %w", stored.Name, err)
	}
	return r, nil
}

// SortRevisions puts the newest first. Two of one number are possible for a moment, when a cache was
// late.
func SortRevisions(list []*appsv1.ControllerRevision) {
	slices.SortFunc(list, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(b.Revision, a.Revision), b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// RevisionsOf names for each node of a fleet the revision whose template its spec follows, by the
// node's name. Of several it is the first, so that they are given newest first: templates may differ
// in fields alone that reach every node at once. A node that follows none has no entry.
func RevisionsOf(snd *v1alpha1.SeiNodeDeployment, nodes []*v1alpha1.SeiNode, revisions []Revision) (map[string]string, error) {
	found := map[string]string{}
	for _, node := range nodes {
		for _, r := range revisions {
			follows, err := r.followedBy(snd, node)
			if err != nil {
				return nil, err
			}
			if follows {
				found[node.Name] = r.Name
				break
			}
		}
	}
	return found, nil
}

// followedBy reports whether a node has what the revision's template asks for by a rollout. What the
// operator's configuration adds for networking is not compared: no template decides it.
func (r Revision) followedBy(snd *v1alpha1.SeiNodeDeployment, node *v1alpha1.SeiNode) (bool, error) {
	then := *snd
	then.Spec.Template, then.Spec.Networking = *r.Template, nil
	target := Target(&then, nil, OrdinalOf(node))
	if snd.Spec.Networking.TCPEnabled() {
		target.Spec.ExternalAddress, target.Spec.P2PHostPort = node.Spec.ExternalAddress, node.Spec.P2PHostPort
	}
	rolled, err := target.KeepingLabels(node).Rolled(node)
	return len(rolled) == 0, err
}

// TemplateChanges are the fields in which two templates differ, below spec.template and sorted.
func TemplateChanges(a, b *v1alpha1.SeiNodeTemplate) ([]string, error) {
	var found []string
	for _, field := range []struct {
		name  string
		equal bool
	}{
		{"metadata.annotations", maps.Equal(a.Metadata.Annotations, b.Metadata.Annotations)},
		{"metadata.labels", maps.Equal(a.Metadata.Labels, b.Metadata.Labels)},
	} {
		if !field.equal {
			found = append(found, field.name)
		}
	}
	left, err := treeOf(&a.Spec)
	if err != nil {
		return nil, err
	}
	right, err := treeOf(&b.Spec)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(Fields)) {
		if !reflect.DeepEqual(left.get(path), right.get(path)) {
			found = append(found, "spec."+path)
		}
	}
	return found, nil
}
