package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// watchedNamespace is the one that config/namespaced has the operator work in.
const watchedNamespace = "sei-nodes"

// The install of config/namespaced takes the place of the usual one, brings a validator and a full node up, changes the
// configuration of the full node and deletes both. What is in other namespaces stays as it is, and a new node there
// waits until the operator works everywhere again. The test does not run beside others: they need the usual operator.
func TestInstall_Namespaced_WorksInItsNamespaceAlone(t *testing.T) {
	if why := cannotRun(); why != "" {
		t.Skip("skipped: " + why)
	}
	theReport.watch(t)
	chain := *sharedChain(t).in(t)
	before := chain.versions()
	s := &scenario{cluster: theCluster, t: t, namespace: watchedNamespace}
	t.Cleanup(func() {
		if err := s.install(context.Background()); err != nil {
			t.Errorf("installing the usual operator again: %v", err)
		}
	})
	s.installNamespaced()
	t.Cleanup(s.end)
	elsewhere := &scenario{cluster: theCluster, t: t, namespace: "e2e-elsewhere", chain: chain.chain, peers: chain.peers}
	elsewhere.createNamespace()
	t.Cleanup(elsewhere.end)
	elsewhere.create(elsewhere.fullNode("other"))

	from := s.auditSize()
	s.wantRights()
	s.makeChain("namespaced-1")
	s.create(s.validator("validator"))
	s.create(s.fullNode("full"))
	s.awaitInSync("validator")
	hash := s.awaitInSync("full").Status.ConfigHash
	s.edit("full", func(n *v1alpha1.SeiNode) { n.Spec.Overrides = map[string]string{"mempool.size": "4321"} })
	if s.awaitInSync("full").Status.ConfigHash == hash {
		t.Error("the configuration is the one before")
	}
	for _, name := range []string{"full", "validator"} {
		if err := s.Delete(t.Context(), &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	s.awaitGone("full")
	s.awaitGone("validator")

	if after := chain.versions(); !slices.Equal(before, after) {
		t.Errorf("objects of another namespace changed:\n%v\n%v", before, after)
	}
	if node := elsewhere.seiNode("other"); len(node.Finalizers) > 0 || node.Status.Phase != "" {
		t.Errorf("a node of another namespace was taken: %v, %s", node.Finalizers, describe(node))
	}
	for _, refused := range s.refusedToOperator(from) {
		t.Errorf("config/namespaced does not allow: %s", refused)
	}
	if err := s.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, inSyncTimeout, "the usual operator to take the other node", func(context.Context) (bool, string, error) {
		node := elsewhere.seiNode("other")
		return node.Status.Phase != "", describe(node), nil
	})
}

// installNamespaced applies config/namespaced with the images and defaults of these tests. What is bound everywhere is
// unbound by hand, as docs/how-to/namespaced-install.md says.
func (s *scenario) installNamespaced() {
	s.t.Helper()
	folder := filepath.Join(s.root, ".cache", "e2e-namespaced")
	settings, err := os.ReadFile(filepath.Join(s.root, "config", "demo", "operator", "config.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		s.t.Fatal(err)
	}
	for name, content := range map[string][]byte{"config.yaml": settings, "kustomization.yaml": []byte(namespacedOverlay)} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := s.installFrom(s.t.Context(), folder); err != nil {
		s.t.Fatal(err)
	}
	await(s.t, inSyncTimeout, "the operator before to be gone", func(ctx context.Context) (bool, string, error) {
		pods := &corev1.PodList{}
		err := s.List(ctx, pods, client.InNamespace(operatorNamespace))
		return len(pods.Items) == 1, fmt.Sprintf("%d pods", len(pods.Items)), err
	})
	everywhere := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "sei-operator"}}
	if err := s.Delete(s.t.Context(), everywhere); err != nil {
		s.t.Fatal(err)
	}
}

const namespacedOverlay = `
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../config/namespaced]
configMapGenerator:
- {name: sei-operator-config, namespace: sei-operator, behavior: replace, files: [config.yaml]}
patches:
- target: {kind: Deployment, name: sei-operator}
  patch: |
    - {op: replace, path: /spec/replicas, value: 1}
    - {op: add, path: /spec/template/metadata/annotations/demo.sei.io~1image, value: unknown}
    - {op: replace, path: /spec/template/spec/containers/0/readinessProbe/periodSeconds, value: 1}
`

// wantRights checks that the operator can read the Secrets of its namespace alone.
func (s *scenario) wantRights() {
	s.t.Helper()
	for namespace, want := range map[string]bool{watchedNamespace: true, operatorNamespace: false, "e2e-elsewhere": false, "": false} {
		await(s.t, inSyncTimeout, fmt.Sprintf("the right to list the Secrets of %q to be %v", namespace, want), func(ctx context.Context) (bool, string, error) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User:               operatorAccount,
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "list", Resource: "secrets"},
			}}
			err := s.Create(ctx, review)
			return review.Status.Allowed == want, review.Status.Reason, err
		})
	}
}

func (s *scenario) awaitGone(node string) {
	s.t.Helper()
	await(s.t, inSyncTimeout, node+" to be gone", func(ctx context.Context) (bool, string, error) {
		is := &v1alpha1.SeiNode{}
		err := s.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: node}, is)
		if apierrors.IsNotFound(err) {
			return true, "", nil
		}
		return false, describe(is), err
	})
}

// refusedToOperator are the requests of the operator that the API server has forbidden since the audit log had a size.
func (s *scenario) refusedToOperator(from int64) (refused []string) {
	s.t.Helper()
	file, err := os.Open(s.auditLog())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	seen := 0
	for lines.Scan() {
		var event struct {
			RequestURI, Verb         string
			RequestReceivedTimestamp time.Time
			User                     struct{ Username string }
			ResponseStatus           struct{ Code int }
		}
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.User.Username != operatorAccount {
			continue // another owner's, or the last line, half written
		}
		seen++
		if event.ResponseStatus.Code == http.StatusForbidden {
			refused = append(refused, fmt.Sprintf("%s %s at %s", event.Verb, event.RequestURI, event.RequestReceivedTimestamp))
		}
	}
	if seen == 0 {
		s.t.Error("the audit log has nothing of the operator: it proves nothing")
	}
	return refused
}
