# shellcheck shell=bash
# For sourcing. kubectl is the one on the PATH, or else the one that hack/build-cluster.sh has built or been given.

# find_kubectl prints where it is, and builds nothing.
find_kubectl() {
  local build folder
  build=$(dirname "${BASH_SOURCE[0]}")/build-cluster.sh
  command -v kubectl && return
  for folder in "$("$build" --node --print-path 2>/dev/null)" "$("$build" --print-path 2>/dev/null)"; do
    if [[ -x $folder/kubectl ]]; then echo "$folder/kubectl" && return; fi
  done
  echo "kubectl is not on the PATH" >&2
  return 1
}

kubectl_program=$(find_kubectl) || exit
kubectl() { "$kubectl_program" "$@"; }
