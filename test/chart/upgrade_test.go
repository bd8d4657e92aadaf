package chart

import (
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// previousChart is the one that users upgrade from; testdata/README.md says where it comes from.
func previousChart(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("testdata/sei-operator-*.tgz")
	if err != nil || len(found) != 1 {
		t.Fatalf("testdata holds the previous chart, and no other: %v %v", found, err)
	}
	return found[0]
}

func TestUpgrade_FromThePreviousVersion_KeepsAllObjects(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	current, rendered := loadChart(t, chartDir), render(t, namespace, nil)
	if err := cluster.install(t, loadChart(t, previousChart(t)), nil, false); err != nil {
		t.Fatalf("installing the previous chart: %v", err)
	}
	nodes := cluster.createSamples(t)
	previous := cluster.crds(t)

	policies := values{"policies": values{"enabled": true, "imageRepositories": []any{"registry.example.com/"}}}
	cluster.upgrade(t, current, policies)
	cluster.checkKept(t, "the upgrade", nodes)
	checkIdentities(t, "the upgrade", previous, cluster.crds(t))
	checkSchemas(t, rendered, previous, cluster.crds(t))
	cluster.checkReleaseSize(t)

	cluster.rollback(t)
	cluster.checkKept(t, "the rollback", nodes)
	checkIdentities(t, "the rollback", previous, cluster.crds(t))

	cluster.upgrade(t, current, set("crds.install", false))
	cluster.checkKept(t, "the upgrade without CRDs", nodes)
	checkIdentities(t, "the upgrade without CRDs", previous, cluster.crds(t))

	cluster.upgrade(t, current, nil)
	checkSchemas(t, rendered, previous, cluster.crds(t))

	cluster.uninstall(t)
	cluster.checkKept(t, "the uninstall", nodes)
	checkIdentities(t, "the uninstall", previous, cluster.crds(t))
	cluster.checkGone(t, rendered)

	if err := cluster.install(t, current, nil, false); err != nil {
		t.Fatalf("installing again: %v", err)
	}
	cluster.checkKept(t, "the second install", nodes)
}

// A chart that is installed over the manifests takes their objects with --take-ownership and --force-conflicts, and
// refuses without.
func TestInstall_OverKustomize_TakesTheObjects(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	for _, object := range kustomize(t, "default") {
		err := cluster.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("kubectl"), client.ForceOwnership)
		if err != nil {
			t.Fatalf("applying %s: %v", name(object), err)
		}
	}
	nodes := cluster.createSamples(t)
	applied := cluster.crds(t)
	chart := loadChart(t, chartDir)
	if err := cluster.install(t, chart, nil, false); err == nil {
		t.Error("objects of kustomize were taken without being asked for")
	}
	if err := cluster.install(t, chart, nil, true); err != nil {
		t.Fatalf("installing with --take-ownership: %v", err)
	}
	cluster.checkKept(t, "the install", nodes)
	checkIdentities(t, "the install", applied, cluster.crds(t))
}
