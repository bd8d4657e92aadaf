// Package test drives the cluster commands as a person would, on this machine, with real pods. It needs root and
// the built binary, which it asks hack/build-cluster.sh for.
package test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// network is not the default one, so that the test can run beside a cluster in use.
const network = "198.19.0.0/16"

// cluster is a cluster under test.
type cluster struct {
	bin   string
	state string
}

func TestCluster_RunsRestrictedPodsAndLeavesNothingBehind(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: running pods needs root")
	}
	out := run(t, "../../../hack/build-cluster.sh", "--node")
	c := cluster{bin: out[len(out)-1], state: filepath.Join(t.TempDir(), "state")}
	before := takeSnapshot(t)
	t.Cleanup(func() { c.mustCluster(t, "down") })

	c.mustCluster(t, "up")
	c.loadProbe(t)
	c.kubectl(t, "apply", "-f", "server.yaml")
	c.kubectl(t, "-n", "probe", "rollout", "status", "statefulset/server", "--timeout=60s")
	var proof string
	t.Run("a pod reaches a Service by name and the token issuer's keys", func(t *testing.T) {
		proof = c.checkFromPod(t)
	})
	t.Run("a pod that asks for privileges is refused", func(t *testing.T) { c.checkPodSecurity(t) })
	t.Run("logs and exec reach the pod", func(t *testing.T) { c.checkExec(t) })
	t.Run("a claim grows", func(t *testing.T) {
		c.kubectl(t, "-n", "probe", "patch", "pvc", "data", "-p", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
		c.kubectl(t, "-n", "probe", "wait", "pvc/data", "--for=jsonpath={.status.capacity.storage}=2Gi", "--timeout=30s")
	})
	t.Run("the audit log names who wrote what", func(t *testing.T) { c.checkAudit(t) })
	t.Run("a second cluster on the same addresses is refused in a line", func(t *testing.T) { c.checkTakenNetwork(t) })
	t.Run("people other than root are told so in a line", func(t *testing.T) { c.checkNoRoot(t) })
	t.Run("folders of others are neither used nor removed", func(t *testing.T) { c.checkForeignFolder(t) })
	t.Run("a full disk is named in a line", func(t *testing.T) { c.checkFullDisk(t) })
	t.Run("up after a crash goes on with the same data", func(t *testing.T) {
		c.crash(t)
		c.mustCluster(t, "up")
		// What the API says of the pod was true before the crash; restarts are counted.
		c.kubectl(t, "-n", "probe", "wait", "pod/server-0", "--for=jsonpath={.status.containerStatuses[0].restartCount}=1", "--timeout=60s")
		c.kubectl(t, "-n", "probe", "wait", "pod/server-0", "--for=condition=Ready", "--timeout=60s")
		c.kubectl(t, "-n", "probe", "delete", "job", "client")
		if again := c.checkFromPod(t); again != proof {
			t.Errorf("the volume says %q after the crash and said %q before", again, proof)
		}
	})
	t.Run("down leaves nothing", func(t *testing.T) {
		c.mustCluster(t, "down")
		assertNothingLeft(t, before)
	})
	t.Run("down after a crash leaves nothing", func(t *testing.T) {
		c.mustCluster(t, "up")
		c.crash(t)
		c.mustCluster(t, "down")
		assertNothingLeft(t, before)
	})
}

// assertNothingLeft allows the kernel a moment: it takes dead namespaces apart in the background. What has
// disappeared since is not this cluster's: another one may have ended meanwhile.
func assertNothingLeft(t *testing.T, before snapshot) {
	t.Helper()
	var left []string
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 5*time.Second, true, func(context.Context) (bool, error) {
		left = takeSnapshot(t).without(before)
		return len(left) == 0, nil
	})
	if err != nil {
		t.Errorf("the cluster left this behind:\n%s", strings.Join(left, "\n"))
	}
}

func (c cluster) loadProbe(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "probe"), "./probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the probe: %v\n%s", err, out)
	}
	tarball := filepath.Join(dir, "probe.tar")
	run(t, filepath.Join(c.bin, "cluster"), "build-image", "--tag=localhost/probe:test", "--output="+tarball,
		"--file="+filepath.Join(dir, "probe")+":/probe:0755", "--entrypoint=/probe")
	c.mustCluster(t, "load-image", tarball)
}

var serviceLine = regexp.MustCompile(`(?m)^service: (written by uid 65532 at \d+)$`)

// checkFromPod returns what the server's volume holds, as another pod sees it.
func (c cluster) checkFromPod(t *testing.T) string {
	t.Helper()
	c.kubectl(t, "apply", "-f", "client.yaml")
	if out, err := c.tryKubectl("-n", "probe", "wait", "job/client", "--for=condition=Complete", "--timeout=60s"); err != nil {
		logs, _ := c.tryKubectl("-n", "probe", "logs", "job/client")
		t.Fatalf("the pod's checks did not pass: %s\n%s", out, logs)
	}
	logs := c.kubectl(t, "-n", "probe", "logs", "job/client")
	for _, want := range []string{"issuer: https://kubernetes.default.svc.cluster.local", "keys: 1"} {
		if !strings.Contains(logs, want) {
			t.Errorf("the pod did not report %q:\n%s", want, logs)
		}
	}
	match := serviceLine.FindStringSubmatch(logs)
	if match == nil {
		t.Fatalf("the pod did not report the service's answer:\n%s", logs)
	}
	return match[1]
}

func (c cluster) checkPodSecurity(t *testing.T) {
	t.Helper()
	out, err := c.tryKubectl("-n", "probe", "run", "root", "--image=localhost/probe:test")
	if err == nil || !strings.Contains(out, `violates PodSecurity "restricted`) {
		t.Errorf("want a refusal by Pod Security, got: %v %s", err, out)
	}
}

func (c cluster) checkExec(t *testing.T) {
	t.Helper()
	out, err := c.tryKubectl("-n", "probe", "exec", "server-0", "--", "/probe")
	if err == nil || !strings.Contains(out, "usage: probe serve") {
		t.Errorf("want the probe's usage text, got: %v %s", err, out)
	}
}

func (c cluster) checkAudit(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(c.state, "audit", "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(content) {
		var event struct {
			Verb      string
			User      struct{ Username string }
			ObjectRef struct{ Resource, Name string }
		}
		if err := json.Unmarshal(line, &event); err != nil {
			continue // the last line may be half written
		}
		if event.Verb == "create" && event.User.Username == "admin" && event.ObjectRef.Resource == "services" {
			return
		}
	}
	t.Error("the audit log does not say that admin created a Service")
}

func (c cluster) checkTakenNetwork(t *testing.T) {
	t.Helper()
	other := cluster{bin: c.bin, state: filepath.Join(t.TempDir(), "other")}
	out, err := other.command(nil, "up").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the address range 198.19.0.0/16 is taken by sei-19") || bytes.Count(out, []byte("\n")) != 1 {
		t.Errorf("want one line that names the link, got: %v\n%s", err, out)
	}
}

func (c cluster) checkNoRoot(t *testing.T) {
	t.Helper()
	// Neither the build's folder nor the test's is open to others.
	dir, err := os.MkdirTemp("", "cluster-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	run(t, "cp", filepath.Join(c.bin, "cluster"), dir)
	nobody := cluster{bin: dir, state: filepath.Join(dir, "state")}
	out, err := nobody.command(&syscall.Credential{Uid: 65534, Gid: 65534}, "up").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "needs root") || bytes.Count(out, []byte("\n")) != 1 {
		t.Errorf("want one line that asks for root, got: %v\n%s", err, out)
	}
}

func (c cluster) checkForeignFolder(t *testing.T) {
	t.Helper()
	foreign := cluster{bin: c.bin, state: t.TempDir()}
	precious := filepath.Join(foreign.state, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"up", "down"} {
		if out, err := foreign.command(nil, command).CombinedOutput(); err == nil {
			t.Errorf("cluster %s did not refuse:\n%s", command, out)
		}
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
}

func (c cluster) checkFullDisk(t *testing.T) {
	t.Helper()
	disk := t.TempDir()
	run(t, "mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk)
	t.Cleanup(func() { run(t, "umount", disk) })
	full := cluster{bin: c.bin, state: filepath.Join(disk, "state")}
	out, err := full.command(nil, "up").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no disk space: "+full.state+" has 1") || bytes.Count(out, []byte("\n")) != 1 {
		t.Errorf("want one line that names the folder, got: %v\n%s", err, out)
	}
}

// crash ends the node the hard way and waits until it is gone.
func (c cluster) crash(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(c.state, "cluster.json"))
	if err != nil {
		t.Fatal(err)
	}
	var record struct{ PID int }
	if err := json.Unmarshal(content, &record); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(record.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func (c cluster) command(as *syscall.Credential, args ...string) *exec.Cmd {
	args = append([]string{args[0], "--state-dir=" + c.state, "--network=" + network}, args[1:]...)
	// Not the test's context: the clean-up calls this too.
	cmd := exec.CommandContext(context.Background(), filepath.Join(c.bin, "cluster"), args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	return cmd
}

func (c cluster) mustCluster(t *testing.T, args ...string) {
	t.Helper()
	out, err := c.command(nil, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("cluster %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	t.Logf("cluster %s\n%s", args[0], out)
}

func (c cluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.tryKubectl(args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (c cluster) tryKubectl(args ...string) (string, error) {
	args = append([]string{"--kubeconfig=" + filepath.Join(c.state, "kubeconfig")}, args...)
	out, err := exec.CommandContext(context.Background(), filepath.Join(c.bin, "kubectl"), args...).CombinedOutput()
	return string(out), err
}
