#!/usr/bin/env bash
# Builds Helm at the version of test/chart/go.mod, whose libraries the chart's tests have compiled already, and prints the
# folder with the binary as its last line. All other output goes to standard error.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/hack/retry.sh"
folder=$root/.cache/helm

mkdir -p "$folder"
with_retries go -C "$root/test/chart" build -o "$folder/" helm.sh/helm/v4/cmd/helm >&2
echo "$folder"
