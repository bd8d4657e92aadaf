package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// The commands make the same objects as the samples do, which the API server accepts.
func TestOpRun_EveryKind_MakesTheTask(t *testing.T) {
	tests := [][]string{
		{"restart-seid", "rpc-0"},
		{"restart-seid", "fleet/rpc", "--task-timeout", "1h", "--ttl", "24h"},
		{"mark-ready", "val"},
		{"state-sync", "rpc-0", "--rpc-server", "a.example.com:26657,b.example.com:26657"},
		{"update-node-image", "val", "--image", newImage},
		{"await-condition", "val", "--height", "100", "--action", "SIGTERM_SEID"},
		{"await-condition", "rpc", "--caught-up"},
		{"await-nodes-at-height", "fleet/rpc", "--height", "100"},
		{"gov-vote", "val", "--chain-id", "pacific-1", "--proposal", "42", "--option", "yes", "--fees", "20000usei", "--gas", "200000", "--key", "admin", "--memo", "m"},
		{
			"GovSoftwareUpgrade", "val", "--chain-id", "pacific-1", "--title", "v6.5", "--description", "d", "--upgrade-name", "v6.5", "--upgrade-height", "100",
			"--deposit", "1usei", "--fees", "1usei", "--gas", "1",
		},
		{
			"gov-param-change", "val", "--chain-id", "pacific-1", "--title", "t", "--description", "d", "--change", "staking/MaxValidators=50",
			"--change", `gov/tallyparams={"quorum":"0.3"}`, "--deposit", "1usei", "--fees", "1usei", "--gas", "1",
		},
	}
	p := aCluster(t)
	var all strings.Builder
	for _, args := range tests {
		args = append([]string{"op", "run"}, append(args, "--name", "a-task", "--dry-run=client", "-o", "yaml")...)
		all.WriteString(p.mustRun(t, args...) + "---\n")
	}
	golden(t, "op-run.yaml", all.String())
	covered := map[seiv1.SeiNodeTaskKind]bool{}
	for doc := range strings.SplitSeq(all.String(), "---\n") {
		task := &seiv1.SeiNodeTask{}
		if err := yaml.Unmarshal([]byte(doc), task); err != nil {
			t.Fatal(err)
		}
		covered[task.Spec.Kind] = true
	}
	for _, kind := range taskKinds() {
		if !covered[kind.name] {
			t.Errorf("%s is not tried", kind.name)
		}
	}
}

func TestOpRun_WrongArguments_AreRefused(t *testing.T) {
	p := aCluster(t)
	for _, args := range [][]string{
		{}, {"mark-ready", "fleet/rpc"}, {"update-node-image", "val"}, {"await-condition", "val"}, {"await-condition", "val", "--height", "1", "--caught-up"},
		{"gov-param-change", "val", "--chain-id", "c", "--title", "t", "--description", "d", "--change", "MaxValidators=50", "--deposit", "1usei", "--fees", "1usei", "--gas", "1"},
		{"restart-seid", "nobody"}, {"-f", "does-not-exist.yaml"},
	} {
		if _, err := p.run(t, append([]string{"op", "run"}, args...)...); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

func TestOpRun_FromAFile_KeepsWhatItSays(t *testing.T) {
	p := aCluster(t)
	file := filepath.Join(t.TempDir(), "task.yaml")
	text := "apiVersion: sei.io/v1alpha1\nkind: SeiNodeTask\nmetadata: {name: vote}\nspec:\n  kind: RestartSeid\n  target: {nodeRef: {name: rpc-0}}\n  restartSeid: {}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := p.mustRun(t, "op", "run", "-f", file); out != "seinodetask.sei.io/vote created\n" {
		t.Errorf("printed %q", out)
	}
	task := &seiv1.SeiNodeTask{}
	if err := p.cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: testNamespace, Name: "vote"}, task); err != nil || task.Spec.Target.NodeRef.Name != "rpc-0" {
		t.Errorf("got %+v, %v", task.Spec, err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(text, "SeiNodeTask", "SeiNode", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.run(t, "op", "run", "-f", file); err == nil {
		t.Error("another kind was accepted")
	}
}

func someTasks() []client.Object {
	task := func(name string, kind seiv1.SeiNodeTaskKind, age time.Duration) *seiv1.SeiNodeTask {
		t := &seiv1.SeiNodeTask{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: testNamespace, CreationTimestamp: ago(age)}}
		t.Spec.Kind = kind
		return t
	}
	done := task("vote", seiv1.TaskKindGovVote, time.Hour)
	done.Spec.Target.NodeRef.Name = "val"
	done.Status.Phase, done.Status.StartedAt, done.Status.CompletedAt = seiv1.NodeTaskComplete, agoPtr(time.Hour), agoPtr(59*time.Minute)
	done.Status.Conditions = []metav1.Condition{condition(seiv1.ConditionReady, metav1.ConditionTrue, "TaskComplete", "the vote is on chain at height 1200")}
	failed := task("sync", seiv1.TaskKindStateSync, 30*time.Minute)
	failed.Spec.Target.NodeRef.Name = "rpc-0"
	failed.Status.Phase, failed.Status.StartedAt, failed.Status.CompletedAt = seiv1.NodeTaskFailed, agoPtr(30*time.Minute), agoPtr(20*time.Minute)
	failed.Status.Conditions = []metav1.Condition{condition(seiv1.ConditionFailed, metav1.ConditionTrue, "Timeout",
		"await-sync has not completed in 10m: the node is behind by 1000 blocks and catches up")}
	several := task("restart", seiv1.TaskKindRestartSeid, 5*time.Minute)
	several.Spec.Target.FleetRef.Name = "rpc"
	several.Status.Phase, several.Status.StartedAt = seiv1.NodeTaskRunning, agoPtr(5*time.Minute)
	several.Status.Nodes = &seiv1.TaskNodes{Total: 3, Complete: 1, Running: 1, Pending: 1}
	child := task("restart-rpc-1", seiv1.TaskKindRestartSeid, 4*time.Minute)
	child.Labels = map[string]string{seiv1.LabelTask: "restart"}
	child.Spec.Target.NodeRef.Name = "rpc-1"
	child.Status.Phase, child.Status.StartedAt = seiv1.NodeTaskRunning, agoPtr(3*time.Minute)
	child.Status.Plan = &seiv1.TaskPlan{Tasks: []seiv1.PlannedTask{{Type: "restart-seid", Status: seiv1.TaskComplete}, {Type: "await-sync", Status: seiv1.TaskRunning, Message: "the node is behind"}}}
	waiting := task("await", seiv1.TaskKindAwaitNodesAtHeight, time.Minute)
	waiting.Spec.Target.Selector = map[string]string{seiv1.LabelDeployment: "rpc"}
	return []client.Object{waiting, several, child, failed, done}
}

func TestOpList_OldestFirst_WithoutChildren(t *testing.T) {
	p := newPlugin(t, someTasks()...)
	golden(t, "op-list.txt", p.mustRun(t, "op", "list"))
	golden(t, "op-list-wide.txt", p.mustRun(t, "op", "list", "-o", "wide", "--children", "-A"))
	golden(t, "op-list-name.txt", p.mustRun(t, "op", "list", "-o", "name"))
}

func TestOpWait_EndsWithTheTask(t *testing.T) {
	p := newPlugin(t, someTasks()...)
	if out, err := p.run(t, "op", "wait", "vote"); err != nil || !strings.Contains(out, "height 1200") {
		t.Errorf("complete: %q, %v", out, err)
	}
	if out, err := p.run(t, "op", "wait", "sync"); err == nil || !strings.Contains(out, "await-sync has not completed") {
		t.Errorf("failed: %q, %v", out, err)
	}
	if _, err := p.run(t, "op", "wait", "nothing"); err == nil {
		t.Error("a task that is not there was waited for")
	}
}

func TestOpWait_FollowsTheTaskAndGivesUpInTime(t *testing.T) {
	p := newPlugin(t, someTasks()...)
	done := make(chan error, 1)
	var out string
	go func() {
		var err error
		out, err = p.run(t, "op", "wait", "restart", "--timeout", "3s")
		done <- err
	}()
	step := func() {
		for !p.clock.HasWaiters() {
			runtime.Gosched()
		}
	}
	step()
	task := &seiv1.SeiNodeTask{}
	if err := p.cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: testNamespace, Name: "restart"}, task); err != nil {
		t.Fatal(err)
	}
	task.Status.Nodes = &seiv1.TaskNodes{Total: 3, Complete: 2, Running: 1}
	if err := p.cluster.Client.Status().Update(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		step()
		p.clock.Step(time.Second)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "not done after 3s") {
		t.Errorf("got %v", err)
	}
	golden(t, "op-wait.txt", out)
}

// What happens on the way goes beside what programs read.
func TestOpWait_WithOutput_PrintsTheTaskAlone(t *testing.T) {
	p := newPlugin(t, someTasks()...)
	wantPrinted(t, p.mustRun(t, "op", "wait", "vote", "-o", "name"), "seinodetask.sei.io/vote\n")
	if beside := p.err.String(); !strings.Contains(beside, "height 1200") {
		t.Errorf("printed %q beside it, want how the task ended", beside)
	}
	out, err := p.run(t, "op", "wait", "sync", "-o", "yaml")
	task := &seiv1.SeiNodeTask{}
	if parsing := yaml.UnmarshalStrict([]byte(out), task); err == nil || parsing != nil || task.Status.Phase != seiv1.NodeTaskFailed || task.Kind != seiv1.KindSeiNodeTask {
		t.Errorf("of a task that failed: %q, %v, %v, want the task and an error", out, err, parsing)
	}
	if _, err := p.run(t, "op", "wait", "vote", "-o", "wide"); err == nil {
		t.Error("a format that the command does not have was accepted")
	}
}
