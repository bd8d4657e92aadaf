#!/usr/bin/env bash
# Runs shellcheck over the scripts. Where it is missing, Debian's package is installed, which takes root.
set -euo pipefail
cd "$(dirname "$0")/.."
source hack/retry.sh

if ! command -v shellcheck >/dev/null; then
	if ! command -v apt-get >/dev/null || [[ $(id -u) != 0 ]]; then
		echo "SKIPPED: shellcheck is not installed, and installing it takes apt and root"
		exit
	fi
	export DEBIAN_FRONTEND=noninteractive
	with_retries apt-get update -qq
	with_retries apt-get install -y -qq --no-install-recommends shellcheck >/dev/null
fi
git ls-files -co --exclude-standard -- '*.sh' .ci/run | xargs shellcheck -x
