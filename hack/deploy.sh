#!/usr/bin/env bash
# Installs the operator with the image IMG into the cluster of KUBECONFIG. SIDECAR_IMG is the sidecar's image of all nodes
# that do not name one; without it, it is the one that the operator was built with.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
overlay=$root/.cache/deploy
fail() { echo "deploy: $*" >&2; exit 1; }

[[ ${IMG-} ]] || fail "name the operator's image: make deploy IMG=registry.example.com/sei-operator/manager:v1 SIDECAR_IMG=..."
source "$root/hack/kubectl.sh"

mkdir -p "$overlay"
cp "$root/config/manager/config.yaml" "$overlay/config.yaml"
if [[ ${SIDECAR_IMG-} ]]; then printf 'images:\n  sidecar: %s\n' "$SIDECAR_IMG" >>"$overlay/config.yaml"; fi
cat >"$overlay/kustomization.yaml" <<END
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- ../../config/default
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
END
kubectl kustomize "$overlay" | kubectl apply --server-side -f -
kubectl -n sei-operator rollout status deployment/sei-operator --timeout=180s
