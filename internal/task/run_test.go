package task

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestAPIOutcome_OnlyWhatStaysWrongEndsAPlan(t *testing.T) {
	resource, broken := schema.GroupResource{Resource: "services"}, errors.New("broken")
	ends := apierrors.NewForbidden(resource, "n", broken)
	ends.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, c := range map[string]struct {
		err    error
		reason string
		after  time.Duration // 0 for outcomes that are no wait
	}{
		"invalid":             {apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "n", nil), ReasonRefused, 0},
		"bad request":         {apierrors.NewBadRequest("no"), ReasonRefused, 0},
		"forbidden":           {apierrors.NewForbidden(resource, "n", broken), ReasonAPIUnavailable, shortly},
		"out of reach":        {broken, ReasonAPIUnavailable, shortly},
		"namespace that goes": {ends, ReasonNamespaceTerminating, someTime},
	} {
		o := APIOutcome("applying Service n", c.err)
		if o.Reason != c.reason || o.IsWait() != (c.after > 0) || o.After != c.after {
			t.Errorf("%s: %+v, want Reason %v, waiting: %t and After %v", name, o, c.reason, c.after > 0, c.after)
		}
	}
}
