#!/usr/bin/env bash
# Builds the embedded Kubernetes of tools/cluster from Go modules, once per version, and prints the folder with
# the binaries as its last line. All other output goes to standard error.
#
#   hack/build-cluster.sh                  control plane: etcd, kube-apiserver, kube-controller-manager,
#                                          kube-scheduler, kubectl  -> .cache/k8s/VERSION/bin
#   hack/build-cluster.sh --node           the same and kubelet, kube-proxy, coredns, provisioner and the
#                                          cluster commands         -> .cache/k8s/VERSION/node/bin
#   hack/build-cluster.sh --controller-manager   kube-controller-manager alone, for another version than the rest
#                                          -> .cache/k8s/VERSION/controller-manager/bin
#   hack/build-cluster.sh --print-path     print the folder, build nothing
#   hack/build-cluster.sh --check          build nothing; succeeds if there is nothing to build (also with --node)
#   hack/build-cluster.sh --versions       print the Kubernetes versions there are module files for
#   hack/build-cluster.sh --default-version
#
# K8S_VERSION selects the version. Needs Go and git, and the module proxy unless everything is cached.
#
# KUBEBUILDER_ASSETS, a folder with etcd, kube-apiserver and kubectl, is used as the control plane's, and nothing is
# compiled. The official archives for tests hold no kube-controller-manager: KUBE_CONTROLLER_MANAGER names one, and
# otherwise it alone is built               -> .cache/k8s/VERSION/controller-manager/bin
set -euo pipefail

default_version=1.37.1
control_plane=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl)
node_profile=(kubelet kube-proxy coredns provisioner)

root=$(cd "$(dirname "$0")/.." && pwd)
module=$root/tools/cluster
version=${K8S_VERSION:-$default_version}
version=${version#v}
# shellcheck source=hack/retry.sh
source "$root/hack/retry.sh"
# shellcheck source=hack/progress.sh
source "$root/hack/progress.sh"

say()  { echo "cluster $version: $*" >&2; }
fail() { say "$*"; exit 1; }

versions() {
  echo "$default_version"
  local f
  for f in "$module"/k8s-*.mod; do
    [[ -e $f ]] && basename "$f" .mod | sed 's/^k8s-//'
  done
}

profile=control
print_only=
check_only=
for arg in "$@"; do
  case $arg in
    --node)               profile=node ;;
    --controller-manager) profile=controller-manager ;;
    --print-path)         print_only=yes ;;
    --check)              check_only=yes ;;
    --versions)           versions; exit ;;
    --default-version)    echo "$default_version"; exit ;;
    *) fail "unknown argument $arg; the head of hack/build-cluster.sh lists them" ;;
  esac
done

modfile=go.mod
[[ $version == "$default_version" ]] || modfile=k8s-$version.mod
[[ -e $module/$modfile ]] ||
  fail "no module file for Kubernetes $version; there are: $(versions | xargs). hack/cluster-modfile.sh $version writes one"

out=$root/.cache/k8s/$version

# check_assets ends the script when KUBEBUILDER_ASSETS lacks what only it can give.
check_assets() {
  local name missing=()
  for name in etcd kube-apiserver kubectl; do
    [[ -x $KUBEBUILDER_ASSETS/$name ]] || missing+=("$name")
  done
  ((${#missing[@]} == 0)) || fail "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS lacks: ${missing[*]}. Put that there, or unset the variable to build everything"
}

# find_controller_manager succeeds when a kube-controller-manager for KUBEBUILDER_ASSETS is at hand. test/envtest
# looks at the same places.
find_controller_manager() {
  if [[ -n ${KUBE_CONTROLLER_MANAGER:-} ]]; then
    [[ -x $KUBE_CONTROLLER_MANAGER ]] || fail "KUBE_CONTROLLER_MANAGER=$KUBE_CONTROLLER_MANAGER is not a program"
    return
  fi
  [[ -x $KUBEBUILDER_ASSETS/kube-controller-manager || -x $out/bin/kube-controller-manager ]]
}

# Those who have control plane binaries already need no others.
if [[ $profile == control && -n ${KUBEBUILDER_ASSETS:-} ]]; then
  check_assets
  if [[ -n $print_only ]] || find_controller_manager; then
    echo "$KUBEBUILDER_ASSETS"
    exit
  fi
  profile=controller-manager
  assets=$KUBEBUILDER_ASSETS
fi

names=("${control_plane[@]}")
packages=(.)
tags=
program=cluster
if [[ $profile == controller-manager ]]; then
  names=()
  packages=(k8s.io/kubernetes/cmd/kube-controller-manager)
  program=kube-controller-manager
  out=$out/controller-manager
elif [[ $profile == node ]]; then
  [[ $(uname -s) == Linux ]] || fail "running pods needs Linux and root; the manifests run on any other cluster as well (kind, EKS, ...)"
  names+=("${node_profile[@]}")
  packages+=(./pause)
  tags=node
  out=$out/node
fi
bin=$out/bin

if [[ -n $print_only ]]; then
  echo "$bin"
  exit
fi

# The stamp covers what goes into the binary: recipe, versions and sources. Files of the node profile are left out of the
# plain build's stamp: working on them must not make every test run link the control plane again.
stamp() {
  local sources=("$module/$modfile" "$module/${modfile%.mod}.sum")
  while IFS= read -r f; do sources+=("$f"); done < <(
    case $profile in
      node) find "$module" -name '*.go' ! -name '*_test.go' ;;
      control)
        find "$module" -maxdepth 1 -name '*.go' ! -name '*_test.go' ! -name node_on.go
        find "$module/internal/multicall" -name '*.go' ! -name '*_test.go'
        ;;
    esac | LC_ALL=C sort
  )
  { go env GOVERSION GOOS GOARCH; declare -f compile; cat "${sources[@]}"; } | git hash-object --stdin
}

up_to_date() { [[ -x $bin/$program && -e $out/stamp && $(cat "$out/stamp") == "$wanted" ]]; }

# Compiling the largest packages takes more than a gigabyte each; a small machine with many cores would swap.
parallelism() {
  local cores memory=999
  cores=$(getconf _NPROCESSORS_ONLN)
  [[ -r /proc/meminfo ]] && memory=$(awk '/^MemTotal/ {print int($2 / 1024 / 1024 / 2)}' /proc/meminfo)
  echo $((cores < memory ? cores : memory > 1 ? memory : 1))
}

# The recipe: what is said here or in the stamp's other sources changes the binaries.
compile() {
  local major=${version%%.*} minor package ldflags="-s -w"
  minor=${version#*.} && minor=${minor%%.*}
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    ldflags+=" -X $package.gitVersion=v$version -X $package.gitMajor=$major -X $package.gitMinor=$minor -X $package.gitTreeState=clean"
  done
  go build "${flags[@]}" -v -p "$(parallelism)" -ldflags "$ldflags" -o "$out/$program.new" "${packages[0]}"
  if [[ $profile == node ]]; then go build "${flags[@]}" -ldflags "-s -w" -o "$out/pause.new" ./pause; fi
}

build() {
  export GOWORK=off CGO_ENABLED=0
  local flags=(-mod=readonly -modfile="$modfile" -tags="$tags" -trimpath -buildvcs=false)
  cd "$module"
  # Asking for the package list downloads the module zips and compiles nothing. It names each on standard error.
  say "downloading modules"
  with_retries go list "${flags[@]}" -deps -f "$to_compile" "${packages[@]}" >"$log" || fail "the modules could not be downloaded"
  compile_packages "$(wc -l <"$log")" compile
}

install() {
  mkdir -p "$bin"
  mv -f "$out/$program.new" "$bin/$program"
  [[ $profile == node ]] && mv -f "$out/pause.new" "$bin/pause"
  local name
  for name in "${names[@]}"; do ln -sfn "$program" "$bin/$name"; done
  echo "$wanted" >"$out/stamp"
}

command -v go >/dev/null || fail "Go is not on the PATH; install the version that go.mod names"
wanted=$(stamp)
log=$out/build.log
if [[ -n $check_only ]]; then
  up_to_date
  exit
fi
if ! up_to_date; then
  mkdir -p "$out"
  if command -v flock >/dev/null; then
    exec 9>"$out/lock"
    flock -n 9 || { say "another build is running; waiting for it"; flock 9; }
  fi
  if ! up_to_date; then
    if [[ -n ${assets-} ]]; then
      say "KUBEBUILDER_ASSETS has no kube-controller-manager, as the official archives for tests have none: it alone is built; KUBE_CONTROLLER_MANAGER can name one instead"
    fi
    (build)
    install
    say "ready after $SECONDS s, $(du -h "$bin/$program" | cut -f1)"
  fi
fi
echo "${assets:-$bin}"
