package task_test

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/certificates"
	"github.com/sei-operator/sei-operator/internal/render"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
	"github.com/sei-operator/sei-operator/internal/task"
)

func TestCertificateDue_SaysWhy(t *testing.T) {
	issuedAt := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	refused := errors.Join(sidecar.ErrUnreachable, sidecar.ErrCertificate)
	for name, c := range map[string]struct {
		change func(*metav1.PartialObjectMetadata)
		looked error
		after  time.Duration
		want   string
	}{
		"a new one":                 {},
		"one that is half through":  {after: certificates.Lifetime / 2},
		"one near its end":          {after: certificates.Lifetime / 4 * 3, want: "it expires"},
		"one that has expired":      {after: certificates.Lifetime * 2, want: "it expires"},
		"times that cannot be read": {change: func(m *metav1.PartialObjectMetadata) { m.Annotations[render.AnnotationCertificateNotAfter] = "soon" }, want: "it expires"},
		"no annotations":            {change: func(m *metav1.PartialObjectMetadata) { m.Annotations = nil }, want: "it is for another node"},
		"of a node of the same name": {change: func(m *metav1.PartialObjectMetadata) {
			m.Annotations[render.AnnotationCertificateName] = "v.n.ns.sidecar.sei.io"
		}, want: "it is for another node"},
		"orphaned":                         {change: func(m *metav1.PartialObjectMetadata) { m.OwnerReferences = nil }, want: "it has no owner reference"},
		"refused a moment after it is new": {looked: refused, after: time.Minute},
		"refused for long":                 {looked: refused, after: time.Hour, want: "it is not accepted"},
		"not answered for long":            {looked: sidecar.ErrUnreachable, after: time.Hour},
	} {
		node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", UID: "u"}}
		live := task.SecretMetadata(render.Certificate(node, render.Issued{
			NotBefore: issuedAt.Add(-time.Hour), NotAfter: issuedAt.Add(certificates.Lifetime),
		}).ObjectMeta)
		if c.change != nil {
			c.change(live)
		}
		if got := task.CertificateDue(node, live, c.looked, issuedAt.Add(c.after)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
