#!/usr/bin/env bash
# Runs a Go tool at a pinned version, built once into .cache/tools.
#   hack/tool.sh MODULE/PATH@VERSION [args...]
# The module proxy answers 429 in bursts, so the build is retried with back-off.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
spec=$1
shift
version=${spec##*@}
name=$(basename "${spec%@*}")
dir="$root/.cache/tools/$name-$version"
if [ ! -x "$dir/$name" ]; then
	echo "building $name $version" >&2
	for wait in 5 15 30 60 120 0; do
		if GOBIN="$dir" GOFLAGS=-buildvcs=false go install "$spec"; then
			break
		fi
		[ "$wait" -gt 0 ] || { echo "$name $version cannot be built" >&2; exit 1; }
		echo "retrying $name in $wait s" >&2
		sleep "$wait"
	done
fi
exec "$dir/$name" "$@"
