#!/usr/bin/env bash
# Runs the generators and fails if any of them changed a file: what is generated is committed.
set -euo pipefail
cd "$(dirname "$0")/.."
state() { git ls-files -co --exclude-standard -- api charts config docs | LC_ALL=C sort | xargs sha256sum; }
before=$(state)
make --no-print-directory generate manifests docs
if ! diff <(echo "$before") <(state) >/dev/null; then
	echo "generated files were not current; they are now, commit them:" >&2
	git status --short -- api charts config docs >&2
	exit 1
fi
