package task

import (
	"time"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// Env is what the tasks of one node's plan work with during one reconcile.
type Env struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server: for Secrets, which are not cached, and
	// where acting on a stale read would do harm.
	Live client.Reader
	// Node is the owner. Tasks only read it.
	Node *v1alpha1.SeiNode
	// Observed are the objects as this pass knows them: as they were seen, and as the steps
	// of this pass left them.
	Observed *Objects
	// Target is what the plan was made for; nil when no plan runs.
	Target *v1alpha1.PlanTarget
	// Document is what the sidecar of the observed pod told in this pass; nil when it has
	// not answered. Then nothing is asked of it either: a dead connection would hold a worker.
	Document *api.Node
	// LookError is why the sidecar told nothing.
	LookError error
	// Render is the input of the renderers.
	Render render.Input
	// StatefulSet renders what the node's StatefulSet should be, once for all. It is only
	// read; what is sent to the API server is a copy.
	StatefulSet func() (*appsv1ac.StatefulSetApplyConfiguration, error)
	// Config is the configuration the node should have; empty when no plan runs.
	Config render.Config
	// Sidecar talks to the sidecar of the observed pod; nil while there is none.
	Sidecar sidecar.Sidecar
	// ReservationNamespace is where consensus keys are reserved.
	ReservationNamespace string
	// Certificates issues the certificate of the node's sidecar.
	Certificates CertificateAuthority
	Clock        clock.PassiveClock
	// Wrote and Deleted are notified of every object that was written or deleted, so that no later
	// pass decides on a cache that is behind.
	Wrote   func(client.Object)
	Deleted func(client.Object)
	// WebhookAdds is what the API server adds to a StatefulSet's template by itself.
	WebhookAdds *WebhookAdds
	// InShape is which objects need not be compared again.
	InShape *InShape
	// Facts collects what the report needs to know.
	Facts *Facts
}

// Facts is what tasks found out besides their outcome.
type Facts struct {
	// Identity is the StatefulSet that is the node's now. It starts as recorded
	// in status; nil means none is recorded any more.
	Identity *v1alpha1.ObjectIdentity
	// ImpostorDeleted and Recreated report repairs.
	ImpostorDeleted bool
	Recreated       bool
	// ConsensusAddress is the address that is reserved for this node.
	ConsensusAddress string
	// AppliedTemplate is the hash of the pod template that apply-statefulset has applied.
	AppliedTemplate string
	// Bootstrapped: the bootstrap Job has reached its height.
	Bootstrapped bool
	// PutBack lists what others had added to the node's objects and was taken out again.
	PutBack []string
	// CertificateProblem says why the node's sidecar has no certificate although it should.
	CertificateProblem string
	// VolumeProblem says why the volume could not be resized.
	VolumeProblem string
}

// How soon to look again where no event tells.
const (
	soon     = 250 * time.Millisecond
	shortly  = 2 * time.Second
	someTime = 30 * time.Second
)
