# shellcheck shell=bash
# For sourcing: compiling with go build -v, with a progress bar and an estimate. Needs say and fail, root, the
# repository, and log, the file that the output goes to.
# shellcheck disable=SC2154 # root and log are set by who sources this

# What go list prints for packages that go build would compile; those in the build cache are left out.
# shellcheck disable=SC2034 # for who sources this
to_compile='{{if and .Stale (ne .StaleReason "not installed but available in build cache")}}{{.ImportPath}}{{end}}'

# minutes SECONDS prints a time as people say it.
minutes() {
  if (($1 < 90)); then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi
}

# progress DONE TOTAL ELAPSED prints a bar, and an estimate once there is something to go by. Packages differ in size,
# so the estimate is rough. Linking comes last and is no package.
progress() {
  local done=$1 total=$2 elapsed=$3 width=30 bar dots
  if ((done >= total)); then
    echo "linking, after $(minutes "$elapsed")"
    return
  fi
  printf -v bar '%*s' $((width * done / total)) ''
  printf -v dots '%*s' $((width - width * done / total)) ''
  printf '[%s%s] %d of %d packages, %s' "${bar// /#}" "${dots// /.}" "$done" "$total" "$(minutes "$elapsed")"
  if ((elapsed >= 20 && done >= 20)); then printf ', about %s left' "$(minutes $((elapsed * (total - done) / done)))"; fi
  echo
}

# compiled prints how many packages go build -v has named. Lines with spaces are warnings of compilers.
compiled() { grep -cE '^[^ #]+$' "$log" || true; }

# show_progress PID TOTAL BEGAN shows how far a build is: a bar that is drawn again every second on a terminal, a line
# every ten seconds elsewhere.
show_progress() {
  local pid=$1 total=$2 began=$3 told=$3
  while kill -0 "$pid" 2>/dev/null; do
    if [[ -t 2 ]]; then
      printf '\r\033[K%s' "$(progress "$(compiled)" "$total" $((SECONDS - began)))" >&2
    elif ((SECONDS - told >= 10)); then
      told=$SECONDS
      say "$(progress "$(compiled)" "$total" $((SECONDS - began)))"
    fi
    sleep 1
  done
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}

# compile_packages TOTAL COMMAND... runs a go build -v that compiles so many packages. A compiler that fails does so
# again, so nothing is tried twice.
compile_packages() {
  local total=$1 began=$SECONDS pid status=0
  shift
  say "compiling $total packages and linking"
  : >"$log"
  "$@" >>"$log" 2>&1 &
  pid=$!
  show_progress "$pid" "$total" "$began"
  wait "$pid" || status=$?
  if ((status != 0)); then
    tail -n 40 "$log" >&2
    fail "compiling went wrong; the whole output is in ${log#"$root"/}"
  fi
  say "compiling and linking took $((SECONDS - began)) s"
}
