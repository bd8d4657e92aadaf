package e2e

import (
	"encoding/json"
	"net/netip"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// openRegistry lets machines find a registry, and pods of the scenario's namespace pull from it.
func (s *scenario) openRegistry(registry *imageRegistry) {
	s.t.Helper()
	address, err := s.serve(s.t.Context(), registry)
	if err != nil {
		s.t.Fatal(err)
	}
	s.leadToRegistry(address)
	s.givePullSecret()
}

// leadToRegistry makes a Service without pods that leads from a port of each machine to an address. So images have a name
// on a loopback address, although the registry runs elsewhere.
func (s *scenario) leadToRegistry(address string) {
	s.t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		s.t.Fatal(err)
	}
	at, err := netip.ParseAddrPort(target.Host)
	if err != nil {
		s.t.Fatal(err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "registry"}}
	service.Spec.Type = corev1.ServiceTypeNodePort
	service.Spec.Ports = []corev1.ServicePort{{Port: registryNodePort, NodePort: registryNodePort}}
	s.create(service)
	s.create(&discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "registry", Labels: map[string]string{discoveryv1.LabelServiceName: service.Name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{at.Addr().String()}}},
		Ports:       []discoveryv1.EndpointPort{{Port: new(int32(at.Port()))}},
	})
}

// givePullSecret gives the service account of nodes, and so of the pods that pull ahead, the registry's password.
func (s *scenario) givePullSecret() {
	s.t.Helper()
	login, err := json.Marshal(map[string]any{
		"auths": map[string]any{registryHost: map[string]string{"username": registryUser, "password": registryPassword}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "registry"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: login},
	})
	account := &corev1.ServiceAccount{}
	s.mustGet("default", account)
	before := account.DeepCopy()
	account.ImagePullSecrets = append(account.ImagePullSecrets, corev1.LocalObjectReference{Name: "registry"})
	if err := s.Patch(s.t.Context(), account, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
}
