// Package chart tests the Helm chart with Helm itself: that it renders the objects of the kustomize manifests, that a
// wrong value is named, and that upgrades and an uninstall keep CRDs and nodes.
//
// It is a module of its own, so that the operator does not depend on Helm.
package chart
