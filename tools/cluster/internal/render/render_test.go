package render

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

func testLayout(t *testing.T) layout.Layout {
	t.Helper()
	l, err := layout.New("/state", "198.18.0.0/16")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestComponents_EveryConfigurationFileTheyNameIsRendered(t *testing.T) {
	l := testLayout(t)
	files := Files(l)
	for _, c := range Components(l) {
		for _, arg := range c.Args {
			_, path, _ := strings.Cut(arg, "=")
			if path == "" {
				path = arg
			}
			if _, ok := files[path]; strings.HasPrefix(path, l.Config("")) && !ok {
				t.Errorf("%s wants %s, which is not rendered", c.Name, path)
			}
		}
	}
}

func TestComponents_ThoseThatOthersNeedComeFirst(t *testing.T) {
	components := Components(testLayout(t))
	names := make([]string, 0, len(components))
	for _, c := range components {
		names = append(names, c.Name)
	}
	for _, pair := range [][2]string{{"etcd", "kube-apiserver"}, {"kube-apiserver", "kubelet"}, {"containerd", "kubelet"}, {"kube-apiserver", "coredns"}} {
		if slices.Index(names, pair[0]) > slices.Index(names, pair[1]) {
			t.Errorf("%s starts after %s: %v", pair[0], pair[1], names)
		}
	}
}

func TestFiles_AreWellFormed(t *testing.T) {
	for path, content := range Files(testLayout(t)) {
		var into map[string]any
		var err error
		switch {
		case strings.HasSuffix(path, ".conflist"):
			err = json.Unmarshal([]byte(content), &into)
		case strings.HasSuffix(path, ".yaml"), strings.HasSuffix(path, "kubeconfig"):
			err = yaml.UnmarshalStrict([]byte(content), &into)
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", path, err, content)
		}
		if strings.Contains(content, "%!") {
			t.Errorf("%s has a verb without a value:\n%s", path, content)
		}
	}
}
