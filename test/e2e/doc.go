// Package e2e runs the operator as users do: its own image in a Deployment under its real permissions, on a real
// Kubernetes node, with real sidecars and the real chain. Nothing in it stands in for something else, and nothing is
// reached that a person with a kubeconfig could not reach, but the processes of pods, which are killed from the
// machine, the API server's audit log and signing key, and the files of logs and volumes, in which secrets are looked for.
//
// Every scenario has a namespace and a chain of its own and runs beside the others. The cluster lives in .state/e2e
// and is taken down at the end; E2E_KEEP=1 leaves it for a look.
package e2e
