#!/usr/bin/env bash
# Builds the real chain binary of tools/seid, once, and prints its folder as the last line of standard output.
# All other output goes to standard error.
#
#   hack/build-seid.sh               .cache/seid/VERSION/seid and the wasm libraries in .cache/seid/VERSION/lib
#   hack/build-seid.sh --print-path  print the folder, build nothing
#   hack/build-seid.sh --check       build nothing; succeeds if there is nothing to build
#
# VERSION is the chain version that tools/seid/go.mod names. Needs Go, a C compiler and, unless everything is
# cached, the module proxy. The binary finds its libraries in lib/ beside itself; it wants HOME to be set.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
module=$root/tools/seid
chain=github.com/sei-protocol/sei-chain
version=$(awk -v m="$chain" '$1 == "require" && $2 == m {print $3}' "$module/go.mod")
out=$root/.cache/seid/$version
log=$out/build.log
# shellcheck source=hack/retry.sh
source "$root/hack/retry.sh"
# shellcheck source=hack/progress.sh
source "$root/hack/progress.sh"

say()  { echo "seid: $*" >&2; }
fail() { say "$*"; exit 1; }

[[ -n $version ]] || fail "tools/seid/go.mod requires no version of $chain"

case ${1-} in
  '' | --check) ;;
  --print-path) echo "$out"; exit ;;
  *)            fail "unknown argument $1; the head of hack/build-seid.sh lists them" ;;
esac

case $(go env GOARCH) in
  amd64) arch=x86_64 ;;
  arm64) arch=aarch64 ;;
  *)     fail "the chain ships no wasm library for $(go env GOARCH)" ;;
esac
libraries=(
  "sei-wasmvm/internal/api/libwasmvm.$arch.so"
  "sei-wasmd/x/wasm/artifacts/v152/api/libwasmvm152.$arch.so"
  "sei-wasmd/x/wasm/artifacts/v155/api/libwasmvm155.$arch.so"
)

# The stamp covers all that goes into the binary: sources, module versions, this recipe and the compiler.
stamp() {
  { go env GOVERSION GOOS GOARCH; declare -f compile copy_libraries; cat "$module/go.mod" "$module/go.sum" "$module/main.go"; } | sha256sum | cut -d' ' -f1
}

up_to_date() {
  [[ -x $out/seid && -e $out/stamp && $(cat "$out/stamp") == "$wanted" ]] || return 1
  local library
  for library in "${libraries[@]}"; do
    [[ -e $out/lib/$(basename "$library") ]] || return 1
  done
}

# -checklinkname=0: a dependency of the chain links to symbols of the runtime that Go otherwise hides.
# $ORIGIN is for the dynamic loader, not for the shell.
compile() {
  local pkg=$chain/sei-cosmos/version
  local flags="-checklinkname=0 -X $pkg.Name=sei -X $pkg.AppName=seid -X $pkg.Version=$version"
  flags+=" -X $pkg.Commit=${version##*-} -X $pkg.BuildTags=netgo"
  flags+=' -extldflags "-Wl,-rpath,$ORIGIN/lib"'
  go build -v -mod=readonly -tags netgo -ldflags "$flags" -o "$out/seid.new" .
}

copy_libraries() {
  local dir library name
  dir=$(go list -mod=readonly -m -f '{{.Dir}}' "$chain")
  mkdir -p "$out/lib"
  for library in "${libraries[@]}"; do
    name=$(basename "$library")
    install -m 0755 "$dir/$library" "$out/lib/$name.new"
    mv "$out/lib/$name.new" "$out/lib/$name"
  done
}

# Whoever ends this script means the build.
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

wanted=$(stamp)
if [[ ${1-} == --check ]]; then
  up_to_date
  exit
fi
if ! up_to_date; then
  mkdir -p "$out"
  exec 9>"$out/lock"
  flock -n 9 || { say "waiting for another build to end"; flock 9; }
fi
if ! up_to_date; then
  cd "$module"
  export CGO_ENABLED=1 GOWORK=off GOFLAGS=-buildvcs=false
  # Asking for the package list downloads the modules and compiles nothing. It names each on standard error.
  say "downloading modules"
  with_retries go list -mod=readonly -tags netgo -deps -f "$to_compile" . >"$log" || fail "the modules could not be downloaded"
  compile_packages "$(wc -l <"$log")" compile
  copy_libraries
  mv "$out/seid.new" "$out/seid"
  [[ $(HOME=${HOME:-/} "$out/seid" version 2>&1) == "$version" ]] || fail "the built binary does not answer with version $version"
  echo "$wanted" >"$out/stamp"
  say "built ${out#"$root"/}/seid"
fi
echo "$out"
