package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/cli"
	"github.com/sei-operator/sei-operator/internal/cli/live"
)

// kubectlSei runs the plugin with the cluster's kubeconfig.
func (s *scenario) kubectlSei(ctx context.Context, args ...string) (string, error) {
	var out, errOut bytes.Buffer
	f := cli.NewFactory(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}, clock.RealClock{}, func(string) string { return "" })
	root := cli.NewRoot(f, "test")
	root.SetArgs(append([]string{"--kubeconfig", filepath.Join(s.state, "kubeconfig"), "--namespace", s.namespace}, args...))
	err := root.ExecuteContext(ctx)
	return out.String(), err
}

func (s *scenario) mustKubectlSei(args ...string) string {
	s.t.Helper()
	out, err := s.kubectlSei(s.t.Context(), args...)
	if err != nil {
		s.t.Fatalf("kubectl sei %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	s.t.Logf("$ kubectl sei %s\n%s", strings.Join(args, " "), out)
	return out
}

// status is what the plugin reports fleet rpc.
func (s *scenario) status(ctx context.Context) (cli.FleetStatus, error) {
	out, err := s.kubectlSei(ctx, "status", "fleet/rpc", "-o", "json")
	if err != nil {
		return cli.FleetStatus{}, err
	}
	report := &cli.StatusReport{}
	if err := json.Unmarshal([]byte(out), report); err != nil {
		return cli.FleetStatus{}, err
	}
	if len(report.Fleets) != 1 {
		return cli.FleetStatus{}, fmt.Errorf("status shows %d fleets", len(report.Fleets))
	}
	return report.Fleets[0], nil
}

func TestPlugin_FollowsARollout(t *testing.T) {
	s := join(t, "plugin")
	fleet := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: "rpc"}}
	fleet.Spec.Replicas = 2
	fleet.Spec.Template.Spec = s.fullNode("").Spec
	s.create(fleet)
	s.awaitFleet("rpc", v1alpha1.ConditionReady, metav1.ConditionTrue)

	await(t, inSyncTimeout, "status to have all facts of both nodes", func(ctx context.Context) (bool, string, error) {
		f, err := s.status(ctx)
		return err == nil && len(f.Nodes) == 2 && knowsAll(f.Nodes[0]) && knowsAll(f.Nodes[1]), fmt.Sprintf("%+v", f), err
	})
	s.mustKubectlSei("status", "fleet/rpc")
	s.mustKubectlSei("why", "rpc-0")

	s.mustKubectlSei("set", "image", "fleet/rpc", imageNext)
	await(t, inSyncTimeout, "status to show a node on its way", func(ctx context.Context) (bool, string, error) {
		f, err := s.status(ctx)
		return err == nil && f.Rollout != nil && (underWay(f, 0) || underWay(f, 1)), fmt.Sprintf("%+v", f), err
	})
	s.mustKubectlSei("status", "fleet/rpc")
	out := s.mustKubectlSei("rollout", "status", "rpc", "--timeout", inSyncTimeout.String())
	if !strings.Contains(out, "is rolled out") {
		t.Errorf("the rollout ended with:\n%s", out)
	}
	for _, name := range []string{"rpc-0", "rpc-1"} {
		if image := s.pod(name).Spec.Containers[0].Image; image != imageNext {
			t.Errorf("%s runs %s after the rollout", name, image)
		}
	}
	s.mustKubectlSei("history", "fleet/rpc")
	s.mustKubectlSei("op", "run", "restart-seid", "rpc-0", "--wait", "--timeout", inSyncTimeout.String())
}

// knowsAll reports whether every fact of a node was told by the node itself, and its state is that of the chain.
func knowsAll(n cli.NodeStatus) bool {
	f := n.Live
	return f != nil && f.Height != nil && *f.Height > 0 && f.Lag != nil && f.Peers != nil && *f.Peers > 0 && f.Disk != nil && f.SyncState != "" &&
		n.AppHash == live.Agrees
}

// underWay reports whether a node has a plan, and another image than it should have.
func underWay(f cli.FleetStatus, i int) bool {
	n := f.Nodes[i]
	return n.Plan != nil && n.Plan.Task != "" && n.Image != n.TargetImage && n.TargetImage == imageNext
}
