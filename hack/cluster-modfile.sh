#!/usr/bin/env bash
# Writes the module file of one Kubernetes version for tools/cluster.
#
#   hack/cluster-modfile.sh 1.37.1            -> tools/cluster/go.mod   (the default version)
#   hack/cluster-modfile.sh 1.36.3            -> tools/cluster/k8s-1.36.3.mod
#
# Kubernetes' own go.mod points its staging modules at folders of its repository, which do not exist in the
# module zip. We take its requirements as they are, so that every library has the version Kubernetes was
# released with, and replace each staging module by its published twin. Maintainers run this once per version;
# builds only read the result.
set -euo pipefail
cd "$(dirname "$0")/../tools/cluster"

version=${1:?usage: hack/cluster-modfile.sh KUBERNETES_VERSION}
default=$(../../hack/build-cluster.sh --default-version)
# The newest CoreDNS that compiles with the client libraries of the version.
case $version in
  1.34.*) coredns=v1.13.1 ;;
  *)      coredns=v1.14.7 ;;
esac
mod=k8s-$version.mod
[[ $version == "$default" ]] && mod=go.mod
sum=${mod%.mod}.sum
staging=v0.${version#1.}

source=$(GOFLAGS=-mod=mod go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')

sed -E \
  -e '/^\/\//d' \
  -e 's|^module .*|module github.com/sei-operator/sei-operator/tools/cluster|' \
  -e "s|^(\tk8s.io/[a-z-]+) v0\.0\.0\$|\1 $staging|" \
  -e "s|^(\t(k8s.io/[a-z-]+) =>) \./staging/.*|\1 \2 $staging|" \
  "$source/go.mod" | sed -e '1{/^$/d}' >"$mod"
cp "$source/go.sum" "$sum"
chmod 644 "$mod" "$sum"
go mod edit -require="k8s.io/kubernetes@v$version" -require="github.com/coredns/coredns@$coredns" \
  -require=github.com/google/go-containerregistry@v0.22.1 "$mod"

# Resolving the packages we import fills in what the copied lists lack. Both profiles share the file.
for tags in "" node; do
  go list -mod=mod -modfile="$mod" -tags="$tags" -deps . >/dev/null
done
echo "wrote tools/cluster/$mod and tools/cluster/$sum"
