// Package envtest gives tests a real Kubernetes control plane: etcd,
// kube-apiserver and kube-controller-manager as processes of their own, with
// this project's CRDs installed. Next to it stand a recorder that makes every
// API request of the code under test countable, helpers that wait by watching,
// and a namespace per test whose objects are written to disk when the test
// fails.
//
// A package starts it once:
//
//	func TestMain(m *testing.M) { os.Exit(envtest.Main(m)) }
//
//	func TestSomething(t *testing.T) {
//		env := envtest.Shared(t)
//		ns := env.Namespace(t)
//		...
//	}
//
// What is not here: kubelets (see podsim), sidecars (see sidecarsim) and
// anything that knows how the operator works.
package envtest
