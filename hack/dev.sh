#!/usr/bin/env bash
# Brings the code as it is into the running cluster of hack/up.sh: builds the operator's images, loads those that
# changed, and waits until the new operator is in charge. When the sidecar changed, all nodes are restarted to get it.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/hack/local.sh"

bin=$("$root/hack/build-cluster.sh" --node --print-path)
kubectl version >/dev/null 2>&1 || fail "no cluster runs here: make up starts one"

# image_in_charge prints the image of the pod that holds the operator's lease, as install_operator notes it.
image_in_charge() {
  local pod
  pod=$(kubectl -n sei-operator get lease sei-operator.sei.io -o 'jsonpath={.spec.holderIdentity}' | cut -d_ -f1)
  if [[ $pod ]]; then kubectl -n sei-operator get pod "$pod" --ignore-not-found -o 'jsonpath={.metadata.annotations.demo\.sei\.io/image}'; fi
}

await_charge() {
  local image began=$SECONDS
  image=$(cut -c1-16 "$images/manager.stamp")
  until [[ $(image_in_charge) == "$image" ]]; do
    ((SECONDS - began < 120)) || fail "the new operator is not in charge after 120 s: kubectl -n sei-operator logs deployment/sei-operator"
    sleep 0.2
  done
}

images=$("$root/hack/images.sh" --own | tail -n 1)
say "the images are built"
before=$(cat "$state/loaded/sidecar" 2>/dev/null || true)
load_images manager sidecar
install_operator
await_charge
say "the new operator is in charge"
if [[ $before != "$(cat "$state/loaded/sidecar")" ]]; then
  kubectl annotate seinodes --all-namespaces --all --overwrite "sei.io/restart=$(cut -c1-16 "$images/sidecar.stamp")" >/dev/null
  say "all nodes are restarted, for the new sidecar"
fi
