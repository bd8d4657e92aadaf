package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"github.com/sei-operator/sei-operator/test/security/leaks"
)

// evidence collects, while the scenarios run, every secret that there is and everything that is written down. At the end
// the one is looked for in the other.
type evidence struct {
	*cluster
	// dir has the files: hard links, which stay when Kubernetes deletes a log or a volume, and snapshots of objects.
	dir   string
	began time.Time

	mu      sync.Mutex
	finder  leaks.Finder
	secrets map[string]bool // by origin
	visited map[string]bool // processes and files whose secrets are known
	// control is the origin of a secret that was leaked on purpose. It has to be found.
	control string

	stop context.CancelFunc
	done sync.WaitGroup
}

// collectEvery is shorter than the life of any log: the kubelet deletes it with its pod, and no earlier than a grace
// period after that has ended.
const collectEvery = 500 * time.Millisecond

// startEvidence begins to collect.
func startEvidence(c *cluster) *evidence {
	ctx, stop := context.WithCancel(context.Background())
	e := &evidence{
		cluster: c, dir: filepath.Join(c.state, "evidence"), began: time.Now(), stop: stop,
		secrets: map[string]bool{}, visited: map[string]bool{},
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(c.clients.CoreV1().RESTClient(), "secrets", "", fields.Everything()),
		ObjectType:    &corev1.Secret{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    e.learn,
			UpdateFunc: func(_, now any) { e.learn(now) },
		},
	})
	e.done.Go(func() { informer.RunWithContext(ctx) })
	e.done.Go(func() {
		tick := time.NewTicker(collectEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				e.collectFiles()
			}
		}
	})
	return e
}

// learn takes note of a Secret.
func (e *evidence) learn(obj any) {
	secret, ok := obj.(*corev1.Secret)
	if !ok {
		return
	}
	for file, content := range secret.Data {
		e.add(fmt.Sprintf("Secret %s/%s, %s", secret.Namespace, secret.Name, file), file, content)
	}
}

func (e *evidence) add(origin, file string, content []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	parts := leaks.Of(origin, file, content)
	if len(parts) > 0 {
		e.secrets[origin] = true
	}
	e.finder.Add(parts...)
}

// collectFiles takes note of what is in files: logs, volumes, tokens. What goes away meanwhile is not missed: it was
// there in the round before.
func (e *evidence) collectFiles() {
	e.link("logs", filepath.Join(e.state, "log", "pods"), func(string, fs.DirEntry) bool { return true })
	volumes := filepath.Join(e.state, "volumes")
	e.link("volumes", volumes, writtenByUs)
	for _, pattern := range keyFiles {
		found, _ := filepath.Glob(filepath.Join(volumes, "*", pattern)) // the pattern is well-formed
		for _, path := range found {
			e.learnFile(path, "key on a volume, "+filepath.Base(path))
		}
	}
	e.learnTokens()
}

// keyFiles are the places on a volume where keys belong, below the home.
var keyFiles = []string{"config/priv_validator_key.json", "config/node_key.json", "keyring-test/*"}

// writtenByUs leaves out the chain's data, what is being downloaded, and keys that are where they belong.
func writtenByUs(_ string, entry fs.DirEntry) bool {
	if entry.IsDir() {
		return !slices.Contains([]string{"data", "tmp", "wasm", "keyring-test", "keyring-file"}, entry.Name())
	}
	// seid writes a key to a file of the second name first.
	isKey := slices.Contains([]string{"priv_validator_key.json", "node_key.json"}, entry.Name()) || strings.HasPrefix(entry.Name(), "write-file-atomic-")
	return !isKey
}

// link makes a hard link to every file below root that is wanted. A file that is replaced is linked again.
func (e *evidence) link(kind, root string, wanted func(string, fs.DirEntry) bool) {
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it has gone meanwhile
		}
		if !wanted(path, entry) {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // it has gone meanwhile
		}
		e.linkFile(kind, root, path, info)
		return nil
	})
}

func (e *evidence) linkFile(kind, root, path string, info fs.FileInfo) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	relative, err := filepath.Rel(root, path)
	if !ok || err != nil {
		return
	}
	to := filepath.Join(e.dir, kind, fmt.Sprintf("%s.%d", relative, stat.Ino))
	if _, err := os.Lstat(to); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: collecting evidence:", err)
		return
	}
	if err := os.Link(path, to); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
		fmt.Fprintln(os.Stderr, "e2e: collecting evidence:", err)
	}
}

// learnTokens takes note of the tokens that the kubelet has mounted into containers of the cluster.
func (e *evidence) learnTokens() {
	groups, _ := filepath.Glob("/proc/[0-9]*/cgroup") // the pattern is well-formed
	for _, file := range groups {
		process := filepath.Dir(file)
		if e.visit(process) {
			continue
		}
		group, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(group), "/sei-cluster-") {
			continue
		}
		for _, pattern := range []string{"root/var/run/secrets/*/token", "root/var/run/secrets/*/*/token", "root/own/*"} {
			found, _ := filepath.Glob(filepath.Join(process, pattern))
			for _, path := range found {
				e.learnFile(path, "service-account token of "+podOf(string(group)))
			}
		}
	}
}

// podOf is the control group's part that names the pod.
func podOf(group string) string {
	for part := range strings.SplitSeq(group, "/") {
		if strings.HasPrefix(part, "pod") {
			return part
		}
	}
	return "a pod"
}

func (e *evidence) learnFile(path, origin string) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || e.visit(fmt.Sprintf("%s %d", path, info.ModTime().UnixNano())) {
		return
	}
	if content, err := os.ReadFile(path); err == nil {
		e.add(origin, filepath.Base(path), content)
	}
}

// visit reports whether something was visited before.
func (e *evidence) visit(what string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.visited[what]
	e.visited[what] = true
	return before
}
