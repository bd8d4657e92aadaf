#!/usr/bin/env bash
# Runs the stages of `make test` one after the other, all of them also when one fails, and ends with how long
# each took. Arguments select stages; without any, all run.
set -uo pipefail
cd "$(dirname "$0")/.."
stages=(generated k8s seid unit fuzz envtest sidecar)
[ $# -gt 0 ] && stages=("$@")

summary=()
failed=0
for stage in "${stages[@]}"; do
	echo
	echo "=== $stage"
	began=$SECONDS
	if make --no-print-directory "stage-$stage"; then result=passed; else result=FAILED failed=$((failed + 1)); fi
	summary+=("$(printf '%-10s %-7s %5d s' "$stage" "$result" $((SECONDS - began)))")
	# Nothing that needs a binary can run without it.
	if [ "$result" = FAILED ] && { [ "$stage" = k8s ] || [ "$stage" = seid ]; }; then break; fi
done

echo
echo "=== stages"
printf '%s\n' "${summary[@]}"
printf 'total              %5d s\n' "$SECONDS"
[ "$failed" -eq 0 ] || { echo "$failed of ${#stages[@]} stages failed"; exit 1; }
echo "all ${#stages[@]} stages passed"
