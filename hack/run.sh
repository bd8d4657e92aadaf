#!/usr/bin/env bash
# Runs the operator on this machine against the cluster of KUBECONFIG, with the rights of its user. Arguments are
# further flags of the manager.
#
# Needs a way to the addresses of pods, as this machine has for the cluster of make up: sidecars are called there.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
namespace=sei-operator
fail() { echo "run: $*" >&2; exit 1; }

source "$root/hack/kubectl.sh"
kubectl -n $namespace get serviceaccount sei-operator >/dev/null || fail "the cluster lacks what the operator needs: make install"

# Two operators would wait for each other's lease; a developer would wait for nothing to happen.
replicas=$(kubectl -n $namespace get deployment sei-operator --ignore-not-found -o 'jsonpath={.spec.replicas}')
[[ ${replicas:-0} == 0 ]] || fail "an operator runs in the cluster: kubectl -n $namespace scale deployment/sei-operator --replicas=0"

# Names the account for which tokens for sidecars are asked; the operator reads it again, so it is renewed beside it.
token=$(mktemp)
renew() { kubectl -n $namespace create token sei-operator --audience=sei-sidecar --duration=2h >"$token"; }
renew
trap 'rm -f "$token"; kill "$(jobs -p)" 2>/dev/null || true' EXIT
while sleep 3600; do renew; done &

cd "$root"
go run ./cmd/manager --namespace=$namespace --sidecar-token-file="$token" --metrics-bind-address=0 --health-probe-bind-address=0 \
  --log-format=text "$@"
