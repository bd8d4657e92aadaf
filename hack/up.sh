#!/usr/bin/env bash
# Starts a Kubernetes node on this machine, installs the operator as it is shipped, and brings up a Sei network of four
# validators and a full node. Run again, it goes on with what is there. hack/down.sh ends it and leaves nothing.
#
# K8S_VERSION selects the Kubernetes version.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
state=$root/.state/cluster
namespace=sei-demo
nodes=(validator-0 validator-1 validator-2 validator-3 full)
patience=600

say()  { printf '%4d s  %s\n' "$SECONDS" "$*"; }
fail() { echo "up: $*" >&2; exit 1; }

elsewhere="the manifests in config/ run on any other cluster as well (kind, EKS, ...)"
[[ $(uname -s) == Linux ]] || fail "running pods needs Linux; $elsewhere"
[[ $(id -u) == 0 ]] || fail "running pods needs root: sudo make up; $elsewhere"

kubectl() { "$bin/kubectl" --kubeconfig="$state/kubeconfig" "$@"; }

# The images are loaded once, and again when they have changed.
load_images() {
  local name loaded=$state/loaded-images wanted
  wanted=$(cat "$images"/{manager,sidecar,seid,seid-next}.stamp)
  if [[ -e $loaded && $(cat "$loaded") == "$wanted" ]]; then return; fi
  for name in manager sidecar seid seid-next; do
    "$bin/cluster" load-image --state-dir="$state" "$images/$name.tar" 2>/dev/null ||
      fail "$name.tar could not be loaded; $bin/cluster status --state-dir=$state says more"
    say "image $name loaded"
  done
  echo "$wanted" >"$loaded"
}

install_operator() {
  local image
  image=$(cut -c1-16 "$images/manager.stamp")
  kubectl kustomize "$root/config/demo/operator" | sed "s|demo.sei.io/image: unknown|demo.sei.io/image: \"$image\"|" |
    kubectl apply --server-side -f - >"$state/install.log" 2>&1 || { cat "$state/install.log" >&2; fail "the operator could not be installed"; }
  kubectl -n sei-operator rollout status deployment/sei-operator --timeout=180s >/dev/null ||
    fail "the operator did not become ready: kubectl -n sei-operator describe pods"
}

# facts prints a line for every node: name|phase|readiness|what its plan is doing.
facts() {
  kubectl -n "$namespace" get seinodes -o 'jsonpath={range .items[*]}{.metadata.name}|{.status.phase}|{.status.conditions[?(@.type=="Ready")].reason}|{.status.conditions[?(@.type=="PlanInProgress")].message}{"\n"}{end}' 2>/dev/null || true
}

# ask NODE PATH asks the node's RPC through the API server.
ask() { kubectl get --raw "/api/v1/namespaces/$namespace/pods/$1-0:26657/proxy/$2" 2>/dev/null || true; }

height() { ask "$1" status | grep -o '"latest_block_height": *"[0-9]*"' | grep -o '[0-9]*' || echo -; }
peers()  { ask "$1" net_info | grep -o '"state": *"[^"]*connected' | wc -l; }

# show prints what changed since it was last called, without waiting times, which change all the time.
declare -A shown
show() {
  local name phase ready doing line
  while IFS='|' read -r name phase ready doing; do
    [[ -n $name ]] || continue
    line=$phase
    if [[ $phase == Running ]]; then line+=", $ready"; fi
    if [[ $doing == *": task "* ]]; then line+=": ${doing#*: }" line=${line%%, since*}; fi
    if [[ ${shown[$name]-} != "$line" ]]; then
      shown[$name]=$line
      say "$(printf '%-12s %s' "$name" "$line")"
    fi
  done <<<"$1"
}

# watch_network shows progress until every node is in sync.
first_block=
watch_network() {
  local now at began=$SECONDS
  while ((SECONDS - began < patience)); do
    now=$(facts)
    show "$now"
    if [[ -z $first_block ]]; then
      at=$(height "${nodes[0]}")
      if [[ $at =~ ^[1-9] ]]; then
        first_block=$SECONDS
        say "the chain lives: block $at"
      fi
    fi
    if [[ $(grep -c '|Running|InSync|' <<<"$now") -ge ${#nodes[@]} ]]; then return; fi
    sleep 2
  done
  fail "the network is not in sync after $patience s: kubectl -n $namespace describe seinodes (export KUBECONFIG=$state/kubeconfig)"
}

table() {
  local name phase ready doing
  printf '\n%-14s %-12s %-10s %-8s %s\n' NODE PHASE READY HEIGHT PEERS
  while IFS='|' read -r name phase ready doing; do
    printf '%-14s %-12s %-10s %-8s %s\n' "$name" "$phase" "$ready" "$(height "$name")" "$(peers "$name")"
  done < <(facts)
}

say "building what is missing"
images=$("$root/hack/images.sh" | tail -n 1)
bin=$("$root/hack/build-cluster.sh" --node --print-path)
say "starting Kubernetes"
"$bin/cluster" up --state-dir="$state" >/dev/null
load_images
install_operator
say "the operator is ready"
kubectl apply -k "$root/config/demo/network" >"$state/demo.log" 2>&1 || { cat "$state/demo.log" >&2; fail "the network could not be applied"; }
watch_network
table
cat <<END

First block after ${first_block:-$SECONDS} s, everything in sync after $SECONDS s.

  export KUBECONFIG=$state/kubeconfig PATH=$bin:\$PATH

Three things to try next:
  Lose a validator, and watch it come back:
    kubectl -n $namespace delete pod validator-0-0 && kubectl -n $namespace get snode -w
  Roll the validators to another image, one by one:
    kubectl -n $namespace patch snd validator --type=merge -p '{"spec":{"template":{"spec":{"image":"localhost/sei-operator/seid:next"}}}}'
    kubectl -n $namespace get snd -w
  Read what the operator did, and why:
    kubectl -n $namespace describe snode full

make down ends it all.
END
