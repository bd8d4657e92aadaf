#!/usr/bin/env bash
# Builds the container images without a container engine, as tarballs in .cache/images, and prints that folder as
# its last line. All other output goes to standard error. An image whose content did not change is not built again.
# With the argument --own only the operator's own images are built, with --chain only those of the chain.
#
#   manager.tar    localhost/sei-operator/manager:dev
#   sidecar.tar    localhost/sei-operator/sidecar:dev
#   seid.tar       localhost/sei-operator/seid:dev     the real chain
#   seid-next.tar  localhost/sei-operator/seid:next    the same chain under another name, for trying updates
#
# VERSION is what the programs answer to --version; dev unless set, so that a commit alone changes no image. Needs
# Linux; the Dockerfile builds the first two anywhere.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
images=$root/.cache/images
version=${VERSION:-dev}
only=${1-}

say()  { echo "images: $*" >&2; }
fail() { say "$*"; exit 1; }

[[ $only =~ ^(--own|--chain)?$ ]] || fail "unknown argument $only"
[[ $(uname -s) == Linux ]] || fail "the chain's image is made from this machine's libraries, so this needs Linux; the Dockerfile builds manager and sidecar anywhere"

# image NAME TAG ARGUMENT... FILE-ARGUMENTS name their files, so a hash over arguments and content says whether the
# tarball is still right.
image() {
  local name=$1 tag=$2 stamp wanted
  shift 2
  stamp=$images/$name.stamp
  wanted=$({ printf '%s\n' "$tag" "$@"; content "$@"; } | sha256sum | cut -d' ' -f1)
  if [[ -e $images/$name.tar && -e $stamp && $(cat "$stamp") == "$wanted" ]]; then
    return
  fi
  rm -f "$stamp"
  "$cluster" build-image --tag="$tag" --output="$images/$name.tar" "$@" 2>>"$images/build.log" ||
    { tail -n 5 "$images/build.log" >&2; fail "$tag could not be built"; }
  echo "$wanted" >"$stamp"
  say "$tag, $(du -h "$images/$name.tar" | cut -f1)"
}

content() {
  local argument file
  for argument in "$@"; do
    case $argument in
      --file=* | --program=*)
        file=${argument#*=}
        sha256sum <"${file%%:*}"
        ;;
    esac
  done
}

# The manager and the sidecar are static, so their images hold nothing else.
compile() {
  say "compiling the manager and the sidecar"
  (
    cd "$root"
    CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$version" -o "$images/bin/" ./cmd/manager ./cmd/sidecar ./cmd/sidecar-storage
  ) >&2
}

command -v go >/dev/null || fail "Go is not on the PATH; install the version that go.mod names"
mkdir -p "$images/bin"
exec 9>"$images/lock"
flock -n 9 || { say "another build is running; waiting for it"; flock 9; }
: >"$images/build.log"

cluster=$("$root/hack/build-cluster.sh" --node | tail -n 1)/cluster

own_images() {
  compile
  image manager localhost/sei-operator/manager:dev --file="$images/bin/manager:/manager:0755" --entrypoint=/manager
  image sidecar localhost/sei-operator/sidecar:dev --file="$images/bin/sidecar:/sidecar:0755" \
    --file="$images/bin/sidecar-storage:/sidecar-storage:0755" --entrypoint=/sidecar
}

chain_images() {
  local seid chain
  seid=$("$root/hack/build-seid.sh" | tail -n 1)
  chain=(--program="$seid/seid:/usr/bin/seid" --library-path="$seid/lib" --env=PATH=/usr/bin --entrypoint=seid)
  image seid localhost/sei-operator/seid:dev "${chain[@]}"
  image seid-next localhost/sei-operator/seid:next "${chain[@]}" --env=SEID_RELEASE=next
}

if [[ $only != --chain ]]; then own_images; fi
if [[ $only != --own ]]; then chain_images; fi
echo "$images"
