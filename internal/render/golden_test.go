package render_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/internal/render"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// everything a node is rendered into, one YAML document each.
func everything(t *testing.T, in render.Input) []byte {
	t.Helper()
	sts, err := render.StatefulSet(in)
	if err != nil {
		t.Fatal(err)
	}
	documents := []any{sts, render.Service(in), render.NetworkPolicy(in)}
	if claim := render.DataClaim(in); claim != nil {
		documents = append(documents, claim)
	}
	if source := in.Node.Spec.Snapshot(); source != nil && source.BootstrapImage != "" {
		job, err := render.BootstrapJob(in)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, job)
	}
	peers := []string{"b@two:26656", "a@one:26656", "b@two:26656"}
	documents = append(documents, render.NodeConfig(in, peers), render.Endpoint(in.Node, in.Platform.ClusterDomain))
	var out bytes.Buffer
	for _, document := range documents {
		raw, err := yaml.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(raw)
	}
	return out.Bytes()
}

func TestRender_EveryMode_MatchesItsGoldenFile(t *testing.T) {
	for name, n := range everyNode() {
		t.Run(name, func(t *testing.T) {
			got := everything(t, input(n))
			file := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(file, got, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (run the test with -update to make it)", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got), -update accepts it:\n%s", file, diff)
			}
		})
	}
}

func TestRender_Twice_IsIdenticalToTheByte(t *testing.T) {
	for name, n := range everyNode() {
		first := everything(t, input(n))
		for range 20 {
			if again := everything(t, input(n.DeepCopy())); !bytes.Equal(first, again) {
				t.Fatalf("%s: second rendering differs:\n%s", name, cmp.Diff(string(first), string(again)))
			}
		}
	}
}

func TestRender_LeavesItsInputAlone(t *testing.T) {
	for name, n := range everyNode() {
		in := input(n)
		before, platformBefore := n.DeepCopy(), input(n).Platform
		everything(t, in)
		if diff := cmp.Diff(before, n); diff != "" {
			t.Errorf("%s: the node was changed:\n%s", name, diff)
		}
		if diff := cmp.Diff(platformBefore, in.Platform); diff != "" {
			t.Errorf("%s: the configuration was changed:\n%s", name, diff)
		}
	}
}
