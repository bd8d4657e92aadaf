#!/usr/bin/env bash
# Runs every fuzz target of the module, each with that many inputs or for that long: hack/fuzz.sh 10000x
set -euo pipefail
cd "$(dirname "$0")/.."
limit=${1:?how many inputs each target gets, for example 10000x}
found=0
while IFS=: read -r file target; do
	found=$((found + 1))
	echo "--- $target ($(dirname "$file")) with $limit"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$limit" "./$(dirname "$file")"
done < <(git grep -oE "^func Fuzz[A-Za-z0-9_]+" -- "*_test.go" | sed "s/func //")
[ "$found" -gt 0 ] || { echo "no fuzz target was found" >&2; exit 1; }
echo "$found fuzz targets ran, with $limit each"
