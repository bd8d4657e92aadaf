#!/usr/bin/env bash
# Runs a Go tool at a pinned version, built once into .cache/tools.
#   hack/tool.sh MODULE/PATH@VERSION [args...]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/hack/retry.sh"
spec=$1
shift
version=${spec##*@}
name=$(basename "${spec%@*}")
dir="$root/.cache/tools/$name-$version"
if [ ! -x "$dir/$name" ]; then
	echo "building $name $version" >&2
	GOBIN="$dir" CGO_ENABLED=0 GOFLAGS='-buildvcs=false -trimpath' with_retries go install "$spec" || { echo "$name $version cannot be built" >&2; exit 1; }
fi
exec "$dir/$name" "$@"
