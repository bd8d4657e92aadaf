#!/usr/bin/env bash
# Asks Go's vulnerability database about what the programs call. GOVULNDB names another copy of the database. Where
# none can be reached the answer is unknown, and that is said.
set -euo pipefail
cd "$(dirname "$0")/.."

database=${GOVULNDB:-https://vuln.go.dev}
if ! problem=$(curl -sSfL --max-time 20 -o /dev/null "$database/index/db.json" 2>&1); then
	echo "SKIPPED: the vulnerability database cannot be reached ($problem)"
	exit
fi
hack/tool.sh golang.org/x/vuln/cmd/govulncheck@v1.9.0 -db "$database" ./cmd/...
