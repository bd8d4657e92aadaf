# shellcheck shell=bash
# For sourcing. Module proxies and package mirrors are busy at times, and what was fetched before stays, so another try
# gets further.

# What another try does not change.
final='\b(403 Forbidden|404 Not Found|410 Gone)\b|checksum mismatch|SECURITY ERROR'

# with_retries COMMAND... runs a command, and again after longer and longer pauses while it fails. Needs pipefail.
with_retries() {
	local pause problems
	problems=$(mktemp)
	for pause in 5 15 30 60 120 last; do
		if { "$@" 2>&1 >&3 | tee "$problems" >&2; } 3>&1; then
			rm -f "$problems"
			return
		fi
		if [[ $pause == last ]] || grep -qE "$final" "$problems"; then
			rm -f "$problems"
			return 1
		fi
		echo "$1 ${2-} did not work; again in $pause s" >&2
		sleep "$pause"
	done
}
