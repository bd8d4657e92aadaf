#!/usr/bin/env bash
# Runs every fuzz target of the module for the given time each: hack/fuzz.sh 30s
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:?how long each target runs, for example 30s}
found=0
while IFS=: read -r file target; do
	found=$((found + 1))
	echo "--- $target ($(dirname "$file")) for $time"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(dirname "$file")"
done < <(git grep -oE "^func Fuzz[A-Za-z0-9_]+" -- "*_test.go" | sed "s/func //")
[ "$found" -gt 0 ] || { echo "no fuzz target was found" >&2; exit 1; }
echo "$found fuzz targets ran for $time each"
