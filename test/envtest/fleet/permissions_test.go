package fleet

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// restrict makes the world's operator a user who may do what the shipped roles allow,
// and nothing else.
func (w fleets) restrict() {
	w.T.Helper()
	file, err := os.ReadFile(filepath.Join(w.Root, "config", "rbac", "role.yaml"))
	if err != nil {
		w.T.Fatal(err)
	}
	everywhere, own := &rbacv1.ClusterRole{}, &rbacv1.Role{}
	for part := range bytes.SplitSeq(file, []byte("\n---\n")) {
		var err error
		if bytes.Contains(part, []byte("kind: ClusterRole\n")) {
			err = yaml.Unmarshal(part, everywhere)
		} else {
			err = yaml.Unmarshal(part, own)
		}
		if err != nil {
			w.T.Fatal(err)
		}
	}
	name := metav1.ObjectMeta{Name: w.NS}
	inside := metav1.ObjectMeta{Name: w.NS, Namespace: w.NS}
	everywhere.ObjectMeta, own.ObjectMeta = name, inside
	user := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: w.NS}}
	for _, obj := range []client.Object{
		everywhere, own,
		&rbacv1.ClusterRoleBinding{ObjectMeta: name, Subjects: user, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: w.NS}},
		&rbacv1.RoleBinding{ObjectMeta: inside, Subjects: user, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: w.NS}},
	} {
		if err := w.Client.Create(w.T.Context(), obj); err != nil {
			w.T.Fatal(err)
		}
		w.T.Cleanup(func() { _ = w.Client.Delete(context.Background(), obj) })
	}
	w.Config, w.AccountNamespace = w.As(w.NS), w.NS
	w.Recorder = envtest.NewRecorder()
	w.Config.Wrap(w.Recorder.Wrap)
}

func TestPermissions_TheShippedRole_SufficesForFleets(t *testing.T) {
	w := newWorldBeforeOthers(t)
	w.Platform.Gateway.Name, w.Platform.Gateway.Domain, w.Platform.Gateway.P2PDomain = "public", "sei.example", "p2p.example"
	w.restrict()
	w.installGatewayAPI()
	w.startGateway("sei.example")
	w.startLoadBalancers()
	w.StartOperator()
	w.chain()

	chain := validators("val", 2)
	chain.Spec.DeletionPolicy = v1alpha1.VolumeRetain
	w.bringUp(chain)
	full := rpc("rpc", 2)
	full.Spec.Networking = &v1alpha1.NetworkingSpec{HTTP: &v1alpha1.HTTPNetworking{}, TCP: &v1alpha1.TCPNetworking{}}
	w.bringUp(full)
	w.await("rpc", func(s *v1alpha1.SeiNodeDeployment) bool {
		return is(s, v1alpha1.ConditionNetworkingReady, metav1.ConditionTrue, v1alpha1.ReasonHTTPRoutesPublished)
	})
	w.edit("rpc", func(s *v1alpha1.SeiNodeDeployment) {
		s.Spec.Replicas, s.Spec.Networking, s.Spec.Template.Spec.Image = 1, nil, "seid:b"
	})
	w.await("rpc", runs("seid:b"))
	envtest.WaitGone[corev1.Service](t, w.Env, w.NS, "rpc-external")
	for _, name := range []string{"val", "rpc"} {
		w.Delete(w.fleet(name))
		envtest.WaitGone[v1alpha1.SeiNodeDeployment](t, w.Env, w.NS, name)
	}
	retained := rpc("old", 2)
	retained.Spec.DeletionPolicy = v1alpha1.VolumeRetain
	w.bringUp(retained)
	w.Delete(w.fleet("old"))
	envtest.WaitGone[v1alpha1.SeiNodeDeployment](t, w.Env, w.NS, "old")
	w.bringUp(rpc("old", 1))
	envtest.WaitFor(t, w.Env, w.NS, "old-1-0", func(p *corev1.Pod) bool { return p != nil && p.Labels[v1alpha1.LabelDeployment] == "" })
	w.Recorder.All().Answered(403).RequireNone(t, "requests that the shipped role does not allow")
}
