package cli

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	kubetesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// situation is a cluster as check sees it. Without changes everything is as it should be.
type situation struct {
	kubernetes string
	apis       []string
	config     string
	ready      int32
	classes    []storagev1.StorageClass
	// denied are rights, as "verb resource/subresource".
	denied []string
	// definitions changes the CRDs before they are installed.
	definitions func(*apiextensionsv1.CustomResourceDefinition)
	// ahead is how far the clock of the machines is.
	ahead time.Duration
	// localAhead is how far the clock of the user is.
	localAhead time.Duration
	node       *seiv1.SeiNode
}

func readyCluster() *situation {
	expand, wait := true, storagev1.VolumeBindingWaitForFirstConsumer
	return &situation{
		kubernetes: "v1.37.1", ready: 2,
		apis:   []string{"snapshot.storage.k8s.io/v1 volumesnapshots", "gateway.networking.k8s.io/v1 httproutes"},
		config: "gateway: {name: public, namespace: gateways}\n",
		classes: []storagev1.StorageClass{{
			ObjectMeta:           metav1.ObjectMeta{Name: "fast", Annotations: map[string]string{defaultClassAnnotation: "true"}},
			AllowVolumeExpansion: &expand, VolumeBindingMode: &wait,
		}},
		node: &seiv1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "rpc-0", Namespace: testNamespace}},
	}
}

func (s *situation) objects(t *testing.T) []client.Object {
	t.Helper()
	replicas := int32(2)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "sei-operator", Namespace: "sei-operator", Labels: map[string]string{operatorLabel: operatorName}},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			ServiceAccountName: "sei-operator", Containers: []corev1.Container{{Name: operatorContainer, Image: "registry:5000/manager:v0.0.0-test@sha256:00"}},
		}}},
		Status: appsv1.DeploymentStatus{ReadyReplicas: s.ready},
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: operatorConfigName, Namespace: "sei-operator"}, Data: map[string]string{operatorConfigKey: s.config}}
	renewed := metav1.NewMicroTime(now.Add(s.ahead))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "machine-1", Namespace: nodeLeaseName}, Spec: coordinationv1.LeaseSpec{RenewTime: &renewed}}
	definitions, err := ownDefinitions()
	if err != nil {
		t.Fatal(err)
	}
	objects := make([]client.Object, 0, 4+len(s.classes)+len(definitions))
	objects = append(objects, deployment, config, lease, s.node)
	for i := range s.classes {
		objects = append(objects, &s.classes[i])
	}
	for i := range definitions {
		if s.definitions != nil {
			s.definitions(&definitions[i])
		}
		objects = append(objects, &definitions[i])
	}
	return objects
}

func (s *situation) plugin(t *testing.T) *plugin {
	t.Helper()
	p := newPlugin(t, s.objects(t)...)
	p.clock.SetTime(now.Add(s.localAhead))
	clientset := p.cluster.Kubernetes.(*kubernetesfake.Clientset)
	discovery := clientset.Discovery().(*fakediscovery.FakeDiscovery)
	discovery.FakedServerVersion = &version.Info{GitVersion: s.kubernetes}
	for _, api := range s.apis {
		groupVersion, resource, _ := strings.Cut(api, " ")
		discovery.Resources = append(discovery.Resources, &metav1.APIResourceList{GroupVersion: groupVersion, APIResources: []metav1.APIResource{{Name: resource}}})
	}
	allowed := func(a *authorizationv1.ResourceAttributes) bool {
		for _, right := range s.denied {
			if a != nil && right == strings.TrimSuffix(a.Verb+" "+a.Resource+"/"+a.Subresource, "/") {
				return false
			}
		}
		return true
	}
	clientset.PrependReactor("create", "selfsubjectaccessreviews", func(action kubetesting.Action) (bool, runtime.Object, error) {
		review := action.(kubetesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
		review.Status.Allowed = allowed(review.Spec.ResourceAttributes)
		return true, review, nil
	})
	clientset.PrependReactor("create", "subjectaccessreviews", func(action kubetesting.Action) (bool, runtime.Object, error) {
		review := action.(kubetesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		review.Status.Allowed = review.Spec.User == "system:serviceaccount:sei-operator:sei-operator" && allowed(review.Spec.ResourceAttributes)
		return true, review, nil
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Date", now.Format(http.TimeFormat)) }))
	t.Cleanup(server.Close)
	p.cluster.Rest = &rest.Config{Host: server.URL}
	return p
}

func TestCheck_AReadyCluster_Passes(t *testing.T) {
	p := readyCluster().plugin(t)
	golden(t, "check/ready.txt", p.mustRun(t, "check"))
	golden(t, "check/ready.json", p.mustRun(t, "check", "-o", "json"))
}

func TestCheck_AClusterWithManyFaults_NamesThemAll(t *testing.T) {
	s := readyCluster()
	s.kubernetes, s.apis, s.ready = "v1.31.2", nil, 0
	s.config = "gateway: {name: public}\nvolumeSnapshots: {beforeUpgrades: true}\nstorage: {validator: {className: gone}, archive: {className: fast}}\n"
	s.classes[0].AllowVolumeExpansion, s.classes[0].VolumeBindingMode = nil, nil
	s.denied = []string{"create serviceaccounts/token", "get pods/proxy"}
	s.definitions = func(d *apiextensionsv1.CustomResourceDefinition) {
		if d.Spec.Names.Kind == "SeiNode" {
			delete(d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties, "upgrades")
		}
	}
	s.ahead, s.localAhead = 10*time.Second, -time.Minute
	s.node.Status.Conditions = []metav1.Condition{
		{Type: seiv1.ConditionSidecarReady, Status: metav1.ConditionTrue, Reason: seiv1.ReasonPlaintext, LastTransitionTime: metav1.NewTime(now)},
		{Type: seiv1.ConditionSnapshotsPublished, Status: metav1.ConditionFalse, Reason: seiv1.ReasonSidecarTooOld, LastTransitionTime: metav1.NewTime(now)},
	}
	got, err := s.plugin(t).run(t, "check")
	golden(t, "check/faults.txt", got)
	if exit, ok := errors.AsType[*ExitError](err); !ok || exit.Code != 1 {
		t.Errorf("got %v, want an exit with code 1", err)
	}
}

func TestCheck_OnlyWarnings_ExitsWithZero(t *testing.T) {
	s := readyCluster()
	s.apis, s.config = nil, ""
	got := s.plugin(t).mustRun(t, "check")
	if strings.Count(got, "WARNING") != 2 || strings.Contains(got, "FAILED") {
		t.Errorf("want two warnings:\n%s", got)
	}
}

func TestCheck_NoOperator_FailsAndSaysWhatToDo(t *testing.T) {
	got, err := readyCluster().plugin(t).run(t, "check", "--operator-namespace", "elsewhere")
	if err == nil || !strings.Contains(got, "install the operator") {
		t.Errorf("%v:\n%s", err, got)
	}
}

func TestRights_AnOperatorOfSomeNamespaces_IsAskedForThese(t *testing.T) {
	roles, err := operatorRoles()
	if err != nil || len(roles) != 2 {
		t.Fatalf("%d roles: %v", len(roles), err)
	}
	o := &installedOperator{deployment: &appsv1.Deployment{}}
	o.deployment.Namespace = "sei-operator"
	o.deployment.Spec.Template.Spec.Containers = []corev1.Container{{Args: []string{"--watch-namespace=a,b", "--watch-namespace=c"}}}
	seen := map[string]bool{}
	for _, right := range rights(roles, o) {
		seen[right.Namespace] = true
	}
	if len(seen) != 4 || !seen["a"] || !seen["b"] || !seen["c"] || !seen["sei-operator"] {
		t.Errorf("asked for %v", seen)
	}
}
