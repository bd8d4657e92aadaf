#!/usr/bin/env bash
# Ends what hack/up.sh started and removes all traces: processes, mounts, links, routes and the state folder.
# CLUSTER_STATE is the folder of another cluster than that of make up.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
state=${CLUSTER_STATE:-$root/.state/cluster}

if [[ ${UP_CLUSTER:-local} == existing ]]; then
  echo "down: the cluster was there before make up and stays. kubectl delete namespace sei-demo ends the network; docs/how-to/install.md says how to uninstall the operator" >&2
  exit 1
fi
if [[ ! -d $state ]]; then
  echo "down: nothing runs here"
  exit
fi
[[ $(id -u) == 0 ]] || { echo "down: ending the cluster needs root: sudo make down" >&2; exit 1; }

# The program that started the cluster ends it. If it is gone, it is built again.
bin=$("$root/hack/build-cluster.sh" --node --print-path)
[[ -x $bin/cluster ]] || bin=$("$root/hack/build-cluster.sh" --node | tail -n 1)
"$bin/cluster" down --state-dir="$state"
