#!/usr/bin/env bash
# Builds the site of docs/ into .cache/site and checks its links. Where mkdocs is missing, Debian's packages are
# installed, which takes root.
set -euo pipefail
cd "$(dirname "$0")/.."
source hack/retry.sh

# Debian's, and no other of PATH: the theme and the extensions belong to it.
mkdocs=/usr/bin/mkdocs
if [[ ! -x $mkdocs || ! -d /usr/share/doc/mkdocs-material ]]; then
	if ! command -v apt-get >/dev/null || [[ $(id -u) != 0 ]]; then
		echo "SKIPPED: mkdocs-material is not installed, and installing it takes apt and root"
		exit
	fi
	export DEBIAN_FRONTEND=noninteractive
	with_retries apt-get update -qq
	with_retries apt-get install -y -qq --no-install-recommends mkdocs mkdocs-material >/dev/null
fi
"$mkdocs" build --quiet --clean --strict --config-file hack/site/mkdocs.yml
/usr/bin/python3 hack/site/check.py .cache/site
