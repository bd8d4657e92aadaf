#!/usr/bin/env bash
# Starts a Kubernetes node on this machine, installs the operator as it is shipped, and brings up a Sei network of four
# validators and a full node. Run again, it continues with what is there. hack/down.sh ends it and leaves nothing.
# With the argument --empty it ends once Kubernetes has the images: nothing is installed.
#
# K8S_VERSION selects the Kubernetes version. CLUSTER_STATE is a folder for another cluster than that of make up, and
# CLUSTER_NETWORK its address range, 198.18.0.0/16 or 198.19.0.0/16. With UP_CLUSTER=existing no cluster is started:
# hack/up-existing.sh uses that of KUBECONFIG.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
case ${UP_CLUSTER:-local} in
  local)    ;;
  existing) exec "$root/hack/up-existing.sh" ;;
  *)        echo "up: UP_CLUSTER=$UP_CLUSTER is unknown: local or existing" >&2; exit 1 ;;
esac
source "$root/hack/local.sh"
kubeconfig=$state/kubeconfig
source "$root/hack/network.sh"
only=${1-}

elsewhere="UP_CLUSTER=existing brings the network up in a cluster that you have (kind, EKS, ...); see docs/how-to/local-cluster.md"
[[ -z $only || $only == --empty ]] || fail "unknown argument $only"
[[ $(uname -s) == Linux ]] || fail "running pods needs Linux; $elsewhere"
[[ $(id -u) == 0 ]] || fail "running pods needs root: sudo make up; $elsewhere"

# announce says what will take long. The figures are those of two busy cores.
announce() {
  local kubernetes=yes chain=yes
  "$root/hack/build-cluster.sh" --node --check && kubernetes=
  "$root/hack/build-seid.sh" --check && chain=
  if [[ -z $kubernetes$chain ]]; then return; fi
  say "compiling comes first, once; later runs take a minute. On two cores:"
  if [[ $kubernetes ]]; then say "  Kubernetes   about 14 minutes"; fi
  if [[ $chain ]]; then say "  the chain    about 10 minutes"; fi
}

# start starts Kubernetes, and the operator in it unless the cluster stays empty.
start() {
  "$bin/cluster" up --state-dir="$state" --network="${CLUSTER_NETWORK:-198.18.0.0/16}" >/dev/null
  say "Kubernetes runs"
  load_images manager sidecar
  if [[ $only == --empty ]]; then return; fi
  apply_operator
  say "the operator is installed"
}

announce
say "building what is missing"
images=$("$root/hack/images.sh" --own | tail -n 1)
bin=$("$root/hack/build-cluster.sh" --node --print-path)
# The chain may still have to be compiled. Its progress is on the screen, so the rest is shown afterwards.
started=$(mktemp)
trap 'rm -f "$started"' EXIT
start >"$started" 2>&1 &
result=0
"$root/hack/images.sh" --chain >/dev/null || result=$?
wait $! || result=$?
cat "$started"
((result == 0)) || exit "$result"
load_images seid
if [[ $only == --empty ]]; then
  load_images seid-next
  printf '\nKubernetes runs, and nothing is installed.\n\n  export KUBECONFIG=%s PATH=%s:$PATH\n\nmake down ends it.\n' "$state/kubeconfig" "$bin"
  exit
fi
# The network waits for the operator by itself. The second image of the chain is for later.
kubectl apply -k "$root/config/demo/network" >"$state/demo.log" 2>&1 || { cat "$state/demo.log" >&2; fail "the network could not be applied"; }
load_images seid-next &
await_operator
say "the operator is ready"
watch_network
wait $!
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
