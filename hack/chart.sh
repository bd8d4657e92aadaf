#!/usr/bin/env bash
# Copies the manifests of config/ that the chart renders into charts/sei-operator/manifests: a chart cannot read files
# outside its own folder. Running it twice changes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
manifests=charts/sei-operator/manifests

rm -rf "$manifests"
for folder in crd rbac manager network-policy monitoring monitoring/dashboards monitoring/statefulset-rollout policies namespaced/watched; do
	mkdir -p "$manifests/$folder"
	for file in "config/$folder"/*.*; do
		case $file in
			# Of the plugin; of kustomize; namespaces, which Helm makes or finds; and the platform configuration, which is a value.
			*.go | */kustomization.yaml | */namespace.yaml | config/manager/config.yaml) ;;
			*) cp "$file" "$manifests/$folder/" ;;
		esac
	done
done
