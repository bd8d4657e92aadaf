#!/usr/bin/env bash
# Gets prometheus and promtool and prints their folder as the last line of standard output. All other output goes
# to standard error.
#
# Those on PATH are taken if there are any, 2.42 or newer. Else Debian's package is unpacked into
# .cache/prometheus/VERSION, once. It is not installed: that would start a service.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/hack/retry.sh"
cache=$root/.cache/prometheus
oldest=2.42

say()  { echo "prometheus: $*" >&2; }
fail() { say "$*"; exit 1; }

# new_enough FOLDER: rules use keep_firing_for, which older ones do not know.
new_enough() {
  local version
  version=$("$1/promtool" --version 2>&1 | sed -nE '1s/.*version ([0-9]+\.[0-9]+).*/\1/p')
  [[ -n $version && $(printf '%s\n' "$oldest" "$version" | sort -V | head -n 1) == "$oldest" ]]
}

on_path() {
  command -v promtool >/dev/null && command -v prometheus >/dev/null || return 1
  local folder
  folder=$(dirname "$(command -v promtool)")
  [[ -x $folder/prometheus ]] || return 1
  new_enough "$folder" || { say "promtool in $folder is older than $oldest and is not used"; return 1; }
  echo "$folder"
}

cached() {
  local folder
  folder=$(find "$cache/" -path '*/usr/bin/promtool' -printf '%h\n' 2>/dev/null | sort -V | tail -n 1)
  [[ -n $folder && -x $folder/prometheus ]] && echo "$folder"
}

fetch() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
    fail "there is no apt here: install prometheus $oldest or newer yourself, so that prometheus and promtool are on PATH"
  fi
  if [[ $(id -u) == 0 ]]; then
    with_retries apt-get update -qq >&2 || say "the package lists could not be renewed"
  fi
  local work package version
  work=$(mktemp -d "$cache/fetch.XXXXXX")
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$work'" EXIT
  # apt drops its privileges for downloads, and says so at length where it cannot.
  (cd "$work" && with_retries apt-get download -qq -o APT::Sandbox::User=root prometheus >&2) ||
    fail "Debian's package could not be fetched: install prometheus $oldest or newer yourself, so that prometheus and promtool are on PATH"
  package=$(find "$work" -name 'prometheus_*.deb')
  version=$(dpkg-deb --field "$package" Version)
  dpkg -x "$package" "$work/unpacked"
  new_enough "$work/unpacked/usr/bin" || fail "Debian's prometheus $version is older than $oldest: install a newer one yourself"
  rm -rf "${cache:?}/$version"
  mv "$work/unpacked" "$cache/$version"
  say "unpacked $version into .cache/prometheus"
}

on_path && exit
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
cached && exit
fetch
cached || fail "the package holds no promtool"
