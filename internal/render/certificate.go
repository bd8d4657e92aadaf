package render

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// certificateDir is where the sidecar finds its certificate.
const certificateDir = "/var/run/secrets/sei-sidecar-tls"

// What the annotations of a certificate's Secret say of it: its content is not watched.
const (
	// AnnotationCertificate begins them all.
	AnnotationCertificate          = "sei.io/certificate-"
	AnnotationCertificateName      = AnnotationCertificate + "name"
	AnnotationCertificateIssuer    = AnnotationCertificate + "issuer"
	AnnotationCertificateNotBefore = AnnotationCertificate + "not-before"
	AnnotationCertificateNotAfter  = AnnotationCertificate + "not-after"
)

// ServerName is the name that the certificate of the node's sidecar proves.
func ServerName(node *v1alpha1.SeiNode) string {
	return api.ServerName(node.Namespace, node.Name, string(node.UID))
}

// Issued is a certificate, with its key, that an authority has issued for a node's sidecar.
type Issued struct {
	// Certificate and Key are in PEM.
	Certificate, Key    []byte
	NotBefore, NotAfter time.Time
	// Issuer names the authority.
	Issuer string
}

// Certificate is the Secret with a certificate of the node's sidecar. The sidecar's container is all
// that mounts it.
func Certificate(node *v1alpha1.SeiNode, issued Issued) *corev1.Secret {
	owner := metav1.NewControllerRef(node, v1alpha1.GroupVersion.WithKind(v1alpha1.KindSeiNode))
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: node.Namespace, Name: CertificateName(node), Labels: objectLabels(node), OwnerReferences: []metav1.OwnerReference{*owner},
			Annotations: map[string]string{
				AnnotationCertificateName:      ServerName(node),
				AnnotationCertificateIssuer:    issued.Issuer,
				AnnotationCertificateNotBefore: issued.NotBefore.UTC().Format(time.RFC3339),
				AnnotationCertificateNotAfter:  issued.NotAfter.UTC().Format(time.RFC3339),
			},
		},
		Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{api.FileCertificate: issued.Certificate, api.FileKey: issued.Key},
	}
}

// certificateVolumes mount the Secret as a whole, so that it follows what is renewed.
func (p pod) certificateVolumes() []*corev1ac.VolumeApplyConfiguration {
	if !p.Platform.Sidecar.ServesTLS() {
		return nil
	}
	return []*corev1ac.VolumeApplyConfiguration{corev1ac.Volume().WithName(volumeTLS).WithSecret(corev1ac.SecretVolumeSource().
		WithSecretName(CertificateName(p.Node)).
		WithDefaultMode(modeKey).
		WithItems(
			corev1ac.KeyToPath().WithKey(api.FileCertificate).WithPath(api.FileCertificate),
			corev1ac.KeyToPath().WithKey(api.FileKey).WithPath(api.FileKey),
		))}
}

func (p pod) certificateMounts() []*corev1ac.VolumeMountApplyConfiguration {
	if !p.Platform.Sidecar.ServesTLS() {
		return nil
	}
	return []*corev1ac.VolumeMountApplyConfiguration{mount(volumeTLS, certificateDir).WithReadOnly(true)}
}
