#!/usr/bin/env bash
# Installs the operator and the network of make up into the cluster of KUBECONFIG. Nothing is compiled: IMG, SIDECAR_IMG
# and SEID_IMG name images that the cluster can pull or already has. Run again, it continues with what is there.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
overlay=$root/.cache/up
say()  { printf '%4d s  %s\n' "$SECONDS" "$*"; }
fail() { echo "up: $*" >&2; exit 1; }

# A kubeconfig that happens to be exported may be that of production, so a bare make up never uses it; and the current
# context of the home directory is not used at all.
missing=()
for name in KUBECONFIG IMG SIDECAR_IMG SEID_IMG; do
  [[ -n ${!name-} ]] || missing+=("$name")
done
((${#missing[@]} == 0)) || fail "UP_CLUSTER=existing needs ${missing[*]}. KUBECONFIG is the cluster, IMG the operator's image, SIDECAR_IMG the sidecar's, SEID_IMG one with seid in it; the cluster pulls them or has them already"

source "$root/hack/kubectl.sh"
# shellcheck disable=SC2153 # checked above
kubeconfig=$KUBECONFIG
source "$root/hack/network.sh"

# check_operator refuses to replace an operator that somebody else relies on. Ours is known by its annotation.
check_operator() {
  local found
  found=$(kubectl -n sei-operator get deployment sei-operator --ignore-not-found \
    -o 'jsonpath=found {.spec.template.metadata.annotations.demo\.sei\.io/image}')
  [[ $found != "found " ]] || fail "the cluster has an operator that make up did not install, and it stays as it is: kubectl apply -k config/demo/network brings up the network with it, once it names your seid image"
}

# write_overlay writes kustomizations that put the images into those of config/demo.
write_overlay() {
  mkdir -p "$overlay/operator" "$overlay/network"
  sed "s|^  sidecar: .*|  sidecar: $SIDECAR_IMG|" "$root/config/demo/operator/config.yaml" >"$overlay/operator/config.yaml"
  cat >"$overlay/operator/kustomization.yaml" <<END
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- ../../../config/demo/operator
configMapGenerator:
- name: sei-operator-config
  namespace: sei-operator
  behavior: replace
  files:
  - config.yaml
patches:
- target: {kind: Deployment, name: sei-operator}
  patch: |
    - {op: replace, path: /spec/template/spec/containers/0/image, value: "$IMG"}
    - {op: replace, path: /spec/template/metadata/annotations/demo.sei.io~1image, value: "$IMG"}
END
  cat >"$overlay/network/kustomization.yaml" <<END
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- ../../../config/demo/network
patches:
- target: {kind: SeiNodeDeployment}
  patch: |
    - {op: replace, path: /spec/template/spec/image, value: "$SEID_IMG"}
- target: {kind: SeiNode}
  patch: |
    - {op: replace, path: /spec/image, value: "$SEID_IMG"}
END
}

kubectl version >/dev/null || fail "the cluster of KUBECONFIG=$KUBECONFIG does not answer"
say "using $(kubectl config view --minify -o 'jsonpath=context {.contexts[0].name}, {.clusters[0].cluster.server}')"
check_operator
write_overlay
kubectl kustomize "$overlay/operator" | kubectl apply --server-side -f - >"$overlay/install.log" 2>&1 ||
  { cat "$overlay/install.log" >&2; fail "the operator could not be installed"; }
kubectl -n sei-operator rollout status deployment/sei-operator --timeout=180s >/dev/null ||
  fail "the operator did not become ready: kubectl -n sei-operator describe pods"
say "the operator is ready"
kubectl apply -k "$overlay/network" >"$overlay/network.log" 2>&1 || { cat "$overlay/network.log" >&2; fail "the network could not be applied"; }
watch_network
table
cat <<END

Everything is in sync after $SECONDS s.

  kubectl -n $namespace get snode -o wide                 the nodes
  kubectl -n $namespace describe snode full               what the operator did, and why
  kubectl delete namespace $namespace                     ends the network; docs/how-to/install.md says how to uninstall the operator
END
