#!/usr/bin/env bash
# Builds the embedded Kubernetes of tools/cluster from Go modules, once per version, and prints the folder with
# the binaries as its last line. All other output goes to standard error.
#
#   hack/build-cluster.sh                  control plane: etcd, kube-apiserver, kube-controller-manager,
#                                          kube-scheduler, kubectl  -> .cache/k8s/VERSION/bin
#   hack/build-cluster.sh --node           the same and kubelet, kube-proxy, coredns, provisioner and the
#                                          cluster commands         -> .cache/k8s/VERSION/node/bin
#   hack/build-cluster.sh --print-path     print the folder, build nothing
#   hack/build-cluster.sh --versions       print the Kubernetes versions there are module files for
#   hack/build-cluster.sh --default-version
#
# K8S_VERSION selects the version. KUBEBUILDER_ASSETS, when set, is used as the control plane's folder. Needs Go and git, and the module proxy unless everything is cached.
set -euo pipefail

default_version=1.37.1
control_plane=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl)
node_profile=(kubelet kube-proxy coredns provisioner)

root=$(cd "$(dirname "$0")/.." && pwd)
module=$root/tools/cluster
version=${K8S_VERSION:-$default_version}
version=${version#v}

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
for arg in "$@"; do
  case $arg in
    --node)            profile=node ;;
    --print-path)      print_only=yes ;;
    --versions)        versions; exit ;;
    --default-version) echo "$default_version"; exit ;;
    *) fail "unknown argument $arg; the head of hack/build-cluster.sh lists them" ;;
  esac
done

modfile=go.mod
[[ $version == "$default_version" ]] || modfile=k8s-$version.mod
[[ -e $module/$modfile ]] ||
  fail "no module file for Kubernetes $version; there are: $(versions | xargs). hack/cluster-modfile.sh $version writes one"

names=("${control_plane[@]}")
tags=
out=$root/.cache/k8s/$version
if [[ $profile == node ]]; then
  [[ $(uname -s) == Linux ]] || fail "running pods needs Linux and root; the manifests run on any other cluster as well (kind, EKS, ...)"
  names+=("${node_profile[@]}")
  tags=node
  out=$out/node
fi
bin=$out/bin

# Those who have control plane binaries already need no others.
if [[ $profile == control && -n ${KUBEBUILDER_ASSETS:-} ]]; then
  bin=$KUBEBUILDER_ASSETS
  print_only=yes
fi
if [[ -n $print_only ]]; then
  echo "$bin"
  exit
fi

# The stamp covers what goes into the binary. Files of the node profile are left out of the plain build's stamp:
# working on them must not make every test run link the control plane anew.
stamp() {
  local sources=("$0" "$module/$modfile" "$module/${modfile%.mod}.sum")
  while IFS= read -r f; do sources+=("$f"); done < <(
    if [[ $profile == node ]]; then
      find "$module" -name '*.go' ! -name '*_test.go'
    else
      find "$module" -maxdepth 1 -name '*.go' ! -name '*_test.go' ! -name node_on.go
      find "$module/internal/multicall" -name '*.go' ! -name '*_test.go'
    fi | LC_ALL=C sort
  )
  { go env GOVERSION GOOS GOARCH; cat "${sources[@]}"; } | git hash-object --stdin
}

up_to_date() { [[ -x $bin/cluster && -e $out/stamp && $(cat "$out/stamp") == "$wanted" ]]; }

# Compiling the largest packages takes more than a gigabyte each; a small machine with many cores would swap.
parallelism() {
  local cores memory=999
  cores=$(getconf _NPROCESSORS_ONLN)
  [[ -r /proc/meminfo ]] && memory=$(awk '/^MemTotal/ {print int($2 / 1024 / 1024 / 2)}' /proc/meminfo)
  echo $((cores < memory ? cores : memory > 1 ? memory : 1))
}

# run STAGE COMMAND... runs a command into the build log and says every 15 seconds that it is alive.
# go build -v prints a line per compiled package, which makes the line count of the log the progress.
run() {
  local stage=$1 began=$SECONDS pid status=0
  shift
  say "$stage"
  : >"$log"
  "$@" >>"$log" 2>&1 &
  pid=$!
  while kill -0 $pid 2>/dev/null; do
    sleep 1
    if (((SECONDS - began) % 15 == 0 && SECONDS > began)); then
      say "$stage: $((SECONDS - began)) s, $(wc -l <"$log" | xargs) steps done"
    fi
  done
  wait $pid || status=$?
  ((status == 0)) && say "$stage took $((SECONDS - began)) s"
  return $status
}

# The module proxy answers 429 in bursts. What was fetched stays in the module cache, so every try gets further.
with_retries() {
  local delay
  for delay in 5 10 20 40 60 60 0; do
    run "$@" && return
    grep -qE '\b(429|50[0-9])\b|Too Many Requests|timeout|timed out|connection re|unexpected EOF|TLS handshake' "$log" || break
    ((delay == 0)) && break
    say "$1: the module proxy is busy ($(grep -oE '\b(429|50[0-9])\b[^:]*' "$log" | tail -1)); again in $delay s"
    sleep "$delay"
  done
  tail -20 "$log" >&2
  fail "$1 went wrong; the whole output is in ${log#"$root"/}"
}

build() {
  local major=${version%%.*} minor package ldflags
  minor=${version#*.} && minor=${minor%%.*}
  ldflags="-s -w"
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    ldflags+=" -X $package.gitVersion=v$version -X $package.gitMajor=$major -X $package.gitMinor=$minor -X $package.gitTreeState=clean"
  done

  export GOWORK=off CGO_ENABLED=0
  local flags=(-mod=readonly -modfile="$modfile" -tags="$tags" -trimpath -buildvcs=false)
  cd "$module"
  # Asking for the package list downloads the module zips and compiles nothing.
  with_retries "downloading modules" go list "${flags[@]}" -deps .
  say "$(grep -vc '^go: ' "$log") packages go into the binary; those in the build cache are not compiled again"
  with_retries "compiling and linking" go build "${flags[@]}" -v -p "$(parallelism)" -ldflags "$ldflags" -o "$out/cluster.new" .
  if [[ $profile == node ]]; then
    with_retries "compiling the sandbox's process" go build "${flags[@]}" -ldflags "-s -w" -o "$out/pause.new" ./pause
  fi
}

install() {
  mkdir -p "$bin"
  mv -f "$out/cluster.new" "$bin/cluster"
  [[ $profile == node ]] && mv -f "$out/pause.new" "$bin/pause"
  local name
  for name in "${names[@]}"; do ln -sfn cluster "$bin/$name"; done
  echo "$wanted" >"$out/stamp"
}

command -v go >/dev/null || fail "Go is not on the PATH; install the version that go.mod names"
wanted=$(stamp)
log=$out/build.log
if ! up_to_date; then
  mkdir -p "$out"
  if command -v flock >/dev/null; then
    exec 9>"$out/lock"
    flock -n 9 || { say "another build is running; waiting for it"; flock 9; }
  fi
  if ! up_to_date; then
    (build)
    install
    say "ready after $SECONDS s, $(du -h "$bin/cluster" | cut -f1)"
  fi
fi
echo "$bin"
