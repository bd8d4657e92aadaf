package task

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
)

// putBackTemplate takes out of the StatefulSet's template what somebody else added. What is there
// again in the API server's own answer comes from a webhook: it is left in peace, or the two
// would write forever.
func putBackTemplate(ctx context.Context, env *Env, live *appsv1.StatefulSet, want *appsv1ac.StatefulSetApplyConfiguration) error {
	added := render.Additions(want.Spec.Template, &live.Spec.Template)
	if len(added) == 0 || env.WebhookAdds.expected(live.UID, added) {
		env.InShape.note(env.Node, live)
		return nil
	}
	after := live.DeepCopy()
	if err := replaceField(ctx, env, after, "/spec/template", want.Spec.Template); err != nil {
		return fmt.Errorf("restoring the pod template: %w", err)
	}
	env.Observed.StatefulSet = after
	env.Wrote(after)
	env.Facts.PutBack = append(env.Facts.PutBack, added...)
	if still := render.Additions(want.Spec.Template, &after.Spec.Template); len(still) > 0 {
		env.WebhookAdds.note(live.UID, still)
	}
	return nil
}

// putBackStrategy replaces the update strategy as a whole. Apply would leave the parameters of a
// rolling update to whoever set them, and beside another type the API server refuses them.
func putBackStrategy(ctx context.Context, env *Env, live *appsv1.StatefulSet, want *appsv1ac.StatefulSetApplyConfiguration) error {
	after := live.DeepCopy()
	if err := replaceField(ctx, env, after, "/spec/updateStrategy", want.Spec.UpdateStrategy); err != nil {
		return fmt.Errorf("restoring the update strategy: %w", err)
	}
	env.Observed.StatefulSet = after
	env.Wrote(after)
	return nil
}

// WebhookAdds remembers what the API server adds to objects by itself, by uid. The zero value is
// ready to use.
type WebhookAdds struct{ byUID sync.Map }

func (w *WebhookAdds) expected(uid types.UID, added []string) bool {
	known, ok := w.byUID.Load(uid)
	return ok && slices.Equal(known.([]string), added)
}

func (w *WebhookAdds) note(uid types.UID, added []string) { w.byUID.Store(uid, added) }

// putBackSelector takes out of the Service's selector what somebody else added: it would select
// no pod.
func putBackSelector(ctx context.Context, env *Env, live *corev1.Service, want map[string]string) error {
	var added []string
	for key := range live.Spec.Selector {
		if _, ok := want[key]; !ok {
			added = append(added, "selector "+key+" of the Service")
		}
	}
	if len(added) == 0 {
		env.InShape.note(env.Node, live)
		return nil
	}
	after := live.DeepCopy()
	if err := replaceField(ctx, env, after, "/spec/selector", want); err != nil {
		return fmt.Errorf("restoring the Service's selector: %w", err)
	}
	env.Observed.Service = after
	env.Wrote(after)
	slices.Sort(added)
	env.Facts.PutBack = append(env.Facts.PutBack, added...)
	return nil
}

// replaceField sets one field of exactly the object that was seen, and of no other version of it. The
// version is written and not tested: the API server answers a test that fails as if the request were
// malformed, and a version that is not the newest with a conflict, after which one looks again.
func replaceField(ctx context.Context, env *Env, obj client.Object, path string, value any) error {
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/resourceVersion", "value": obj.GetResourceVersion()},
		{"op": "replace", "path": path, "value": value},
	})
	if err != nil {
		return fmt.Errorf("encoding the patch: %w", err)
	}
	return env.Client.Patch(ctx, obj, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(v1alpha1.FieldOwnerSeiNode))
}
