#!/usr/bin/env bash
# Runs the stages of `make test` one after the other, all of them also when one fails, and ends with how long
# each took. Arguments select stages; without any, all run.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
stages=(generated site lint k8s seid unit supply vulnerabilities monitoring fuzz chart envtest envtest-1.36 fault sidecar cluster e2e)
[ $# -gt 0 ] && stages=("$@")

# What a stage printed, for the number of tests it left out.
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# repeated prints which tests failed at first and passed when they were run alone.
repeated() {
	local file=.cache/repeated.txt
	[ -s "$file" ] || return 0
	sed -E 's/^.*\.([^.]+): .*/\1/' "$file" | LC_ALL=C sort -u | xargs printf ', failed beside others and run again: %s'
}

# skipped prints how many tests gotestsum counted as skipped, whose reasons are in its own summary, and what scripts
# left out.
skipped() {
	grep -oE '^DONE .* [0-9]+ skipped' "$log" | grep -oE '[0-9]+ skipped$' | awk '{n += $1} END {if (n) printf ", %d tests skipped", n}'
	sed -n 's/^SKIPPED: /, skipped: /p' "$log" | tr -d '\n'
}

summary=()
failed=0
for stage in "${stages[@]}"; do
	echo
	echo "=== $stage"
	began=$SECONDS
	rm -f .cache/repeated.txt
	if make --no-print-directory "stage-$stage" 2>&1 | tee "$log"; then result=passed; else result=FAILED failed=$((failed + 1)); fi
	summary+=("$(printf '%-15s %-7s %5d s%s' "$stage" "$result" $((SECONDS - began)) "$(skipped)$(repeated)")")
	# Nothing that needs a binary can run without it.
	if [ "$result" = FAILED ] && { [ "$stage" = k8s ] || [ "$stage" = seid ]; }; then break; fi
done

echo
echo "=== stages"
printf '%s\n' "${summary[@]}"
printf 'total                   %5d s\n' "$SECONDS"
[ "$failed" -eq 0 ] || { echo "$failed of ${#stages[@]} stages failed"; exit 1; }
echo "all ${#stages[@]} stages passed"
