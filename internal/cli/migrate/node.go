package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/cli/lint"
	"github.com/sei-operator/sei-operator/internal/render"
)

// node says what would happen to a SeiNode and to what belongs to it.
func node(in *Inventory, linter *lint.Linter, obj *unstructured.Unstructured) ([]Finding, error) {
	var sn v1alpha1.SeiNode
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &sn); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name(obj), err)
	}
	var found []Finding
	if !ofFleet(&sn) { // whose template decides what its spec is
		found = append(fields(linter, obj), sidecarImage(name(obj), "spec.sidecar.image", &sn.Spec)...)
	}
	found = append(found, phase(obj, &sn)...)
	sts := ownStatefulSet(in, &sn)
	found = append(found, statefulSet(&sn, sts)...)
	found = append(found, pod(in, &sn)...)
	found = append(found, claim(in, &sn)...)
	return append(found, keys(&sn)...), nil
}

// sidecarImage says that a spec names the sidecar, which is another program here.
func sidecarImage(object, field string, spec *v1alpha1.SeiNodeSpec) []Finding {
	if spec.Sidecar == nil || spec.Sidecar.Image == "" {
		return nil
	}
	return []Finding{{object, Change, field + ": " + spec.Sidecar.Image + " is the public operator's sidecar, and does not work with this operator: " +
		"scale the public operator to 0, then remove the field"}}
}

func ofFleet(sn *v1alpha1.SeiNode) bool {
	owner := metav1.GetControllerOf(sn)
	return owner != nil && owner.Kind == v1alpha1.KindSeiNodeDeployment
}

func phase(obj *unstructured.Unstructured, sn *v1alpha1.SeiNode) []Finding {
	if len(sn.OwnerReferences) > 0 && metav1.GetControllerOf(sn) != nil {
		owner := metav1.GetControllerOf(sn)
		return append(phaseOf(obj, sn), Finding{name(obj), Keep, "it belongs to " + owner.Kind + " " + owner.Name})
	}
	return phaseOf(obj, sn)
}

func phaseOf(obj *unstructured.Unstructured, sn *v1alpha1.SeiNode) []Finding {
	switch sn.Status.Phase {
	case v1alpha1.NodeRunning:
		return []Finding{{name(obj), Adopt, "it was brought up, and is not brought up again"}}
	case v1alpha1.NodeFailed:
		return []Finding{{name(obj), Review, "its bring-up failed: this operator waits for a change of the spec, or for annotation sei.io/retry"}}
	default:
		return []Finding{{name(obj), Change,
			fmt.Sprintf("it is not brought up yet (phase %q): let the public operator finish, or recreate it afterwards", sn.Status.Phase)}}
	}
}

func ownStatefulSet(in *Inventory, sn *v1alpha1.SeiNode) *appsv1.StatefulSet {
	i := slices.IndexFunc(in.StatefulSets, func(s appsv1.StatefulSet) bool { return s.Namespace == sn.Namespace && s.Name == sn.Name })
	if i < 0 {
		return nil
	}
	return &in.StatefulSets[i]
}

// statefulSet judges as the operator does when it looks at a StatefulSet for the first time.
func statefulSet(sn *v1alpha1.SeiNode, sts *appsv1.StatefulSet) []Finding {
	object := "StatefulSet " + sn.Namespace + "/" + sn.Name
	selects := map[string]string{v1alpha1.LabelNode: sn.Name}
	orphan := "kubectl delete statefulset " + sn.Name + " --cascade=orphan keeps its pod, and the operator recreates the StatefulSet"
	switch {
	case sts == nil:
		return []Finding{{object, Create, "there is none"}}
	case metav1.GetControllerOf(sts) != nil && metav1.GetControllerOf(sts).UID != sn.UID:
		owner := metav1.GetControllerOf(sts)
		return []Finding{{object, Change, fmt.Sprintf("it is controlled by %s %s: delete or rename one of the two", owner.Kind, owner.Name)}}
	case sts.Spec.Selector == nil || !maps.Equal(sts.Spec.Selector.MatchLabels, selects) || len(sts.Spec.Selector.MatchExpressions) > 0:
		return []Finding{{object, Change, "its selector is " + metav1.FormatLabelSelector(sts.Spec.Selector) + " and cannot be changed: " + orphan}}
	case sts.Spec.ServiceName != sn.Name:
		return []Finding{{object, Change, fmt.Sprintf("its serviceName is %q and cannot be changed: %s", sts.Spec.ServiceName, orphan)}}
	case sn.Status.StatefulSet != nil && sn.Status.StatefulSet.UID != sts.UID:
		return []Finding{{object, Change, "it is not the one that status.statefulSet of the node records, and would be deleted with its pod: " +
			"let the public operator record it, or remove status.statefulSet"}}
	default:
		return []Finding{{object, Adopt, "its pod template is replaced, and it keeps its uid"}}
	}
}

func pod(in *Inventory, sn *v1alpha1.SeiNode) []Finding {
	object := "Pod " + sn.Namespace + "/" + render.PodName(sn)
	i := slices.IndexFunc(in.Pods, func(p corev1.Pod) bool { return p.Namespace == sn.Namespace && p.Name == render.PodName(sn) })
	switch {
	case sn.Spec.Paused:
		return []Finding{{object, Keep, "the node is paused and has no pod; it starts with the new one when it is resumed"}}
	case i < 0:
		return []Finding{{object, Create, "there is none"}}
	case in.Pods[i].Annotations[render.AnnotationSpecHash] != "":
		return []Finding{{object, Keep, "it is from this operator"}}
	default:
		if because := replacedBecause(sn, ownStatefulSet(in, sn), &in.Pods[i]); because != "" {
			return []Finding{{object, Restart, because + ": it is replaced once, as soon as this operator sees the node; seid is down meanwhile"}}
		}
		return []Finding{{object, Keep, "it runs on with its own containers (" + strings.Join(containers(&in.Pods[i]), ", ") + "). It is replaced once when " +
			"annotation " + v1alpha1.AnnotationRestart + " asks for it, when the spec asks for another pod, or when seid in it stops"}}
	}
}

// replacedBecause says why a pod of the public operator cannot stay, as this operator judges it; empty
// when it can.
func replacedBecause(sn *v1alpha1.SeiNode, sts *appsv1.StatefulSet, p *corev1.Pod) string {
	switch {
	case sn.Status.Phase != v1alpha1.NodeRunning:
		return "the node is not brought up yet"
	case sn.Spec.Signs():
		return "only this operator's sidecar tells which key it signs with"
	case sts == nil:
		return "it has no StatefulSet"
	case render.MountsSecrets(sts.Spec.Template.Spec):
		return "it mounts a Secret, which may be a key that signs"
	case render.SeidImage(sts.Spec.Template.Spec) != sn.Spec.Image:
		return "it runs " + render.SeidImage(sts.Spec.Template.Spec) + ", and the spec asks for " + sn.Spec.Image
	case p.Labels[v1alpha1.LabelChain] == "":
		return "it lacks the label " + v1alpha1.LabelChain + ", by which this operator watches pods"
	case !render.IsCurrent(p, sts):
		return "it was made from an earlier template of its StatefulSet"
	case !slices.ContainsFunc(p.Status.ContainerStatuses, seidStarted):
		return "seid in it has not started"
	default:
		return ""
	}
}

func seidStarted(c corev1.ContainerStatus) bool {
	return c.Name == render.ContainerSeid && c.Started != nil && *c.Started
}

func containers(p *corev1.Pod) []string {
	names := make([]string, 0, len(p.Spec.InitContainers)+len(p.Spec.Containers))
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		names = append(names, c.Name)
	}
	return names
}

func claim(in *Inventory, sn *v1alpha1.SeiNode) []Finding {
	object := "PersistentVolumeClaim " + sn.Namespace + "/" + render.ClaimName(sn)
	i := slices.IndexFunc(in.Claims, func(c corev1.PersistentVolumeClaim) bool {
		return c.Namespace == sn.Namespace && c.Name == render.ClaimName(sn)
	})
	if i < 0 {
		return []Finding{{object, Change, "there is none: the node would begin with an empty volume"}}
	}
	live := &in.Claims[i]
	if sn.Spec.ImportedClaim() != "" {
		return []Finding{{object, Keep, "it is imported, and nothing writes to it"}}
	}
	owner := metav1.GetControllerOf(live)
	switch {
	case owner != nil && owner.UID != sn.UID:
		return []Finding{{object, Change, fmt.Sprintf("it is controlled by %s %s, which is not this node", owner.Kind, owner.Name)}}
	case owner == nil && live.Labels[v1alpha1.LabelNode] != sn.Name:
		return []Finding{{object, Change, "nothing says that it is the node's: label it " + v1alpha1.LabelNode + "=" + sn.Name + ", or import it"}}
	}
	size := "spec.dataVolume.size"
	if ofFleet(sn) {
		size = "spec.template.spec.dataVolume.size of its fleet"
	}
	found := []Finding{{object, Adopt, "data and uid stay; its owner reference is removed, and what becomes of it with the node is dataVolume.retention"}}
	want := render.DataSize(render.Input{Node: sn, Platform: in.Platform})
	if have := live.Spec.Resources.Requests.Storage(); have.Cmp(want) < 0 {
		found = append(found, Finding{object, Review,
			fmt.Sprintf("it would grow from %s to %s, the size of the platform configuration: set %s to keep it", have, &want, size)})
	}
	return found
}

func keys(sn *v1alpha1.SeiNode) []Finding {
	secret := sn.Spec.SigningKeySecret()
	if secret == "" {
		return nil
	}
	return []Finding{{"Secret " + sn.Namespace + "/" + secret, Keep,
		"it is not changed. Its consensus key is reserved for this node before its StatefulSet is adopted"}}
}
