#!/usr/bin/env bash
# Builds a release of the current commit into dist/. It publishes nothing, and takes nothing from the working tree.
#
#   VERSION=v1.2.3 REGISTRY=registry.example.com/sei-operator hack/release.sh [--twice] [--download=URL]
#
#   --twice          builds it a second time in another folder, and fails unless every file is the same
#   --download=URL   the folder that the files will be downloaded from, for sei.yaml, the manifest with which krew
#                    installs the plugin; without it there is no such manifest
#
# VERSION and REGISTRY are where the images will be found; both get into the manager, the manifest and the chart. BUILDER
# names the machine or service that builds, for the provenance. CHANGELOG.md needs a section for VERSION. docs/contributing/releases.md
# says what the files are.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
output=$root/dist
source "$root/hack/retry.sh"

fail() { echo "release: $*" >&2; exit 1; }

[[ -n ${VERSION-} && -n ${REGISTRY-} ]] ||
	fail "name the version and where the images will be published: make release VERSION=v1.2.3 REGISTRY=registry.example.com/sei-operator"
twice=
download=
for arg in "$@"; do
	case $arg in
		--twice) twice=yes ;;
		--download=?*) download=${arg#*=} ;;
		*) fail "unknown argument $arg; the head of hack/release.sh lists them" ;;
	esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commit=$(git -C "$root" rev-parse HEAD)

# build NAME OUTPUT exports the commit into a folder of that name and builds there.
build() {
	local source=$work/$1
	mkdir "$source"
	git -C "$root" archive "$commit" | tar -x -C "$source"
	(
		# Listing packages downloads what they are made from, which differs by operating system.
		cd "$source"
		for os in linux darwin; do
			GOOS=$os with_retries go list -deps ./cmd/... >/dev/null
		done
		cd "$source/tools/release" && with_retries go list -deps . >/dev/null
		go run . --version="$VERSION" --registry="$REGISTRY" --commit="$commit" ${BUILDER:+--builder="$BUILDER"} \
			${download:+--download="$download"} --source="$source" --output="$2"
	)
}

rm -rf "$output"
build source "$output"
if [[ -n $twice ]]; then
	build elsewhere "$work/again"
	diff -r "$output" "$work/again" || fail "two builds of $commit differ"
	echo "release: built twice, with the same result"
fi
(cd "$output" && cat SHA256SUMS)
