#!/usr/bin/env bash
# Fetches what the packages and tests of a module are built from, and no more.
#   hack/fetch-modules.sh test/chart
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/retry.sh
. hack/retry.sh
cd "$1"
if ! with_retries go list -deps -test ./... >/dev/null; then
	echo "the modules of $1 could not be fetched" >&2
	exit 1
fi
