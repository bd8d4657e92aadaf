#!/usr/bin/env bash
# Prints how much of each package its own unit tests reach, as a Markdown table. Tests on a control plane or with real
# pods do not count: they reach more, and say less about which package has a test of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
echo '| package | statements reached by its own tests |'
echo '|---|---|'
go test -cover ./api/... ./cmd/... ./internal/... |
	awk '$1 == "ok" && /coverage: [0-9.]+%/ {
		sub("github.com/sei-operator/sei-operator/", "", $2)
		match($0, /coverage: [0-9.]+%/)
		printf "| `%s` | %s |\n", $2, substr($0, RSTART + 10, RLENGTH - 10)
	}'
