package render

import (
	"strconv"
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// Environment variables of the sidecar, as cmd/sidecar reads them. Where results
// are exported to is a parameter of that task.
const (
	envHome           = "SEI_HOME"
	envChainID        = "SEI_CHAIN_ID"
	envPort           = "SEI_SIDECAR_PORT"
	envAuthMode       = "SEI_SIDECAR_AUTHN_MODE"
	envAuthSubjects   = "SEI_SIDECAR_ALLOWED_SUBJECTS"
	envNodeNamespace  = "SEI_NODE_NAMESPACE"
	envNodeName       = "SEI_NODE_NAME"
	envPodUID         = "SEI_POD_UID"
	envTemplateHash   = "SEI_POD_TEMPLATE_HASH"
	envSnapshotBucket = "SEI_SNAPSHOT_BUCKET_URL"
	envGenesisBucket  = "SEI_GENESIS_BUCKET_URL"
	envUploadTimeout  = "SEI_SNAPSHOT_UPLOAD_TIMEOUT"
	envKeyringBackend = "SEI_KEYRING_BACKEND"
	envKeyringDir     = "SEI_KEYRING_DIR"
	envPassphraseFile = "SEI_KEYRING_PASSPHRASE_FILE" //nolint:gosec // a name, not a secret
	envPrivateDir     = "SEI_SIDECAR_PRIVATE_DIR"
)

// EnvTLSDir is the variable that tells a sidecar where its certificate is, and whoever looks at the
// pod that the sidecar is to be called over TLS.
const EnvTLSDir = "SEI_SIDECAR_TLS_DIR"

// EnvNodeUID is the variable that tells a sidecar the UID of its node, and whoever looks at the pod
// that the sidecar knows it.
const EnvNodeUID = "SEI_NODE_UID"

const (
	authModeKubernetes = "kubernetes"
	keyringFile        = "file"
	keyringTest        = "test"
)

// seidHome is where the volume is mounted.
const seidHome = home.Dir(home.DefaultPath)

func env(name, value string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValue(value)
}

// envFrom takes a value from the pod's own metadata.
func envFrom(name, fieldPath string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValueFrom(corev1ac.EnvVarSource().
		WithFieldRef(corev1ac.ObjectFieldSelector().WithAPIVersion("v1").WithFieldPath(fieldPath)))
}

// homeEnv makes a bare seid find its home, by HOME as by flag. Temporary files
// go onto the volume: snapshots are too large for a container's own layer.
func homeEnv() []*corev1ac.EnvVarApplyConfiguration {
	return []*corev1ac.EnvVarApplyConfiguration{
		env("HOME", userHome),
		env("TMPDIR", seidHome.Tmp()),
		env(envHome, string(seidHome)),
	}
}

// initEnv is what preparing an empty home needs. Its temporary files stay off
// the volume, which has no directory for them yet.
func (p pod) initEnv() []*corev1ac.EnvVarApplyConfiguration {
	vars := []*corev1ac.EnvVarApplyConfiguration{
		env("HOME", userHome),
		env(envHome, string(seidHome)),
		env(envChainID, p.Node.Spec.ChainID),
		env(envNodeName, p.Node.Name),
	}
	if backend := p.keyringBackend(); backend != "" {
		vars = append(vars, env(envKeyringBackend, backend))
	}
	return vars
}

func (p pod) sidecarEnv() []*corev1ac.EnvVarApplyConfiguration {
	vars := append(homeEnv(),
		env(envChainID, p.Node.Spec.ChainID),
		env(envPort, strconv.Itoa(int(SidecarPort(p.Node)))),
		env(envAuthMode, authModeKubernetes),
		env(envAuthSubjects, strings.Join(p.SidecarSubjects, ",")),
		env(envNodeNamespace, p.Node.Namespace),
		env(envNodeName, p.Node.Name),
		env(EnvNodeUID, string(p.Node.UID)),
		envFrom(envPodUID, "metadata.uid"),
		envFrom(envTemplateHash, "metadata.annotations['"+AnnotationTemplateHash+"']"),
		env(envUploadTimeout, p.Platform.Snapshots.UploadTimeout.Duration.String()),
		env(envPrivateDir, tmpDir),
	)
	if p.Platform.Sidecar.ServesTLS() {
		vars = append(vars, env(EnvTLSDir, certificateDir))
	}
	if bucket := p.Platform.Buckets.Snapshot; bucket != "" {
		vars = append(vars, env(envSnapshotBucket, bucket))
	}
	if bucket := p.Platform.Buckets.Genesis; bucket != "" {
		vars = append(vars, env(envGenesisBucket, bucket))
	}
	return append(vars, p.keyringEnv()...)
}

// gateEnv is what waiting at the gate needs, and seid behind it.
func (p pod) gateEnv() []*corev1ac.EnvVarApplyConfiguration {
	return append(homeEnv(), env(envPort, strconv.Itoa(int(SidecarPort(p.Node)))))
}
