# shellcheck shell=bash
# For sourcing, by what works on the local cluster of make up. Needs root, the repository.
# shellcheck disable=SC2154 # root, bin and images are set by who sources this
state=${CLUSTER_STATE:-$root/.state/cluster}

say()  { printf '%4d s  %s\n' "$SECONDS" "$*"; }
fail() { echo "$(basename "$0" .sh): $*" >&2; exit 1; }

kubectl() { "$bin/kubectl" --kubeconfig="$state/kubeconfig" "$@"; }

# load_images loads the images that have changed since.
load_images() {
  local name stamp
  mkdir -p "$state/loaded"
  for name in "$@"; do
    stamp=$state/loaded/$name
    if [[ -e $stamp && $(cat "$stamp") == "$(cat "$images/$name.stamp")" ]]; then continue; fi
    "$bin/cluster" load-image --state-dir="$state" "$images/$name.tar" 2>/dev/null ||
      fail "$name.tar could not be loaded; $bin/cluster status --state-dir=$state says more"
    cp "$images/$name.stamp" "$stamp"
    say "image $name loaded"
  done
}

apply_operator() {
  local image
  image=$(cut -c1-16 "$images/manager.stamp")
  kubectl kustomize "$root/config/demo/operator" | sed "s|demo.sei.io/image: unknown|demo.sei.io/image: \"$image\"|" |
    kubectl apply --server-side -f - >"$state/install.log" 2>&1 || { cat "$state/install.log" >&2; fail "the operator could not be installed"; }
  kubectl wait --for=condition=Established --timeout=60s crd/seinodes.sei.io crd/seinodedeployments.sei.io crd/seinodetasks.sei.io >/dev/null ||
    fail "the CRDs are not served: kubectl describe crd seinodes.sei.io"
}

await_operator() {
  kubectl -n sei-operator rollout status deployment/sei-operator --timeout=180s >/dev/null ||
    fail "the operator did not become ready: kubectl -n sei-operator describe pods"
}

install_operator() {
  apply_operator
  await_operator
}
