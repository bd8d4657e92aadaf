#!/usr/bin/env bash
# Makes all fault runs there are, in parts: each part has a control plane of its own, because the namespaces of runs
# that have ended are left in it. Continues where the same code was interrupted. Arguments are those of the test binary.
set -euo pipefail
cd "$(dirname "$0")/.."
hack/build-cluster.sh >/dev/null
runs_per_part=1000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go test -c -o "$work/fault.test" ./test/fault
result=0
while :; do
	rm -f .cache/fault-report.txt
	(cd test/fault && FAULT_RUNS=$runs_per_part FAULT_RECONCILES=50 FAULT_RESUME=1 \
		"$work/fault.test" -test.run '^TestFaults_' -test.timeout 6h "$@") || result=$?
	grep -q ' runs are left' .cache/fault-report.txt || exit "$result"
done
