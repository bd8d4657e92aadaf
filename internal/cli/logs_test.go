package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// logTexts is PodLogs in memory, by "POD CONTAINER". What is asked for is noted.
type logTexts struct {
	texts map[string]string
	mu    sync.Mutex
	asked map[string]corev1.PodLogOptions
}

// Stream returns what was noted, or as the API server answers for a log that is not there.
func (l *logTexts) Stream(_ context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	key := pod.Name + " " + options.Container
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked == nil {
		l.asked = map[string]corev1.PodLogOptions{}
	}
	l.asked[key] = *options
	text, ok := l.texts[key]
	if !ok {
		return nil, errors.New("the server rejected our request")
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func podOf(namespace, name string, labels map[string]string, containers ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
	for _, c := range containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses,
			corev1.ContainerStatus{Name: c, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	}
	return pod
}

// loggedNode is node rpc-0 with its pod and an operator, each with a log.
func loggedNode() ([]client.Object, *logTexts) {
	node := &seiv1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "rpc-0", Namespace: testNamespace}}
	pod := podOf(testNamespace, "rpc-0-0", map[string]string{seiv1.LabelNode: "rpc-0"}, "sidecar", "seid")
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "install", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}}
	operator := podOf("sei-operator", "sei-operator-1", map[string]string{operatorLabel: operatorName}, operatorContainer)
	return []client.Object{node, pod, operator}, &logTexts{texts: map[string]string{
		"rpc-0-0 seid": "2026-11-15T11:59:02.5Z committed state height=10\n" +
			"a line without a time\n" +
			"2026-11-15T11:59:04Z committed state height=11\n",
		"rpc-0-0 sidecar": "2026-11-15T11:59:01.000000001Z {\"msg\":\"the gate is open\"}\n2026-11-15T11:59:03Z {\"msg\":\"task done\"}\n",
		"sei-operator-1 manager": "2026-11-15T11:59:00Z {\"msg\":\"plan started\",\"namespace\":\"sei\",\"name\":\"rpc-0\"}\n" +
			"2026-11-15T11:59:00.1Z {\"msg\":\"another namespace\",\"namespace\":\"other\",\"name\":\"rpc-0\"}\n" +
			"2026-11-15T11:59:00.2Z {\"msg\":\"another node\",\"namespace\":\"sei\",\"name\":\"rpc-01\"}\n" +
			"2026-11-15T11:59:03.5Z INFO text format\t{\"SeiNode\": {\"name\": \"rpc-0\", \"namespace\": \"sei\"}}\n",
	}}
}

func TestLogs_OfANode_AreMergedByTime(t *testing.T) {
	objects, logs := loggedNode()
	p := newPlugin(t, objects...)
	p.cluster.Logs = logs
	golden(t, "logs/merged.txt", p.mustRun(t, "logs", "rpc-0"))
	golden(t, "logs/seid.jsonl", p.mustRun(t, "logs", "rpc-0", "--source=seid", "-o", "json"))
}

func TestLogs_SinceAndTail_AreAskedOfTheAPIServer(t *testing.T) {
	objects, logs := loggedNode()
	p := newPlugin(t, objects...)
	p.cluster.Logs = logs
	p.mustRun(t, "logs", "rpc-0", "--since=10m", "--tail=5")
	for _, source := range []string{"rpc-0-0 seid", "sei-operator-1 manager"} {
		asked := logs.asked[source]
		if asked.SinceTime == nil || !asked.SinceTime.Time.Equal(now.Add(-10*time.Minute)) || *asked.TailLines != 5 || !asked.Timestamps {
			t.Errorf("%s: asked with %+v", source, asked)
		}
	}
}

func TestLogs_OneThatCannotBeRead_IsNamedAndTheOthersArePrinted(t *testing.T) {
	objects, logs := loggedNode()
	delete(logs.texts, "sei-operator-1 manager")
	p := newPlugin(t, objects...)
	p.cluster.Logs = logs
	got := p.mustRun(t, "logs", "rpc-0")
	if !strings.Contains(got, "height=11") || !strings.Contains(p.err.String(), "warning: the log of operator in pod sei-operator-1 cannot be read") {
		t.Errorf("printed\n%s\nand\n%s", got, p.err)
	}
}

func TestLogs_NoSuchNodeOrBothFollowAndPrevious_IsAnError(t *testing.T) {
	objects, logs := loggedNode()
	p := newPlugin(t, objects...)
	p.cluster.Logs = logs
	if _, err := p.run(t, "logs", "rpc-9"); err == nil {
		t.Error("a node that is not there has logs")
	}
	if _, err := p.run(t, "logs", "rpc-0", "-f", "--previous"); err == nil || !strings.Contains(err.Error(), "cannot be used together") {
		t.Errorf("got %v", err)
	}
}

// following is PodLogs whose streams stay open. Once a stream is read to its present end, read is
// told.
type following struct {
	mu    sync.Mutex
	texts map[string][]string // one text for each time that a log is opened
	read  chan string
}

// Stream returns the next text of a container. The last one stays open.
func (f *following) Stream(ctx context.Context, _ types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	texts := f.texts[options.Container]
	if len(texts) == 0 {
		return nil, errors.New("the pod is gone")
	}
	f.texts[options.Container] = texts[1:]
	return &openLog{done: ctx.Done(), text: bytes.NewReader([]byte(texts[0])), last: len(texts) == 1, name: options.Container, read: f.read}, nil
}

type openLog struct {
	done <-chan struct{}
	text *bytes.Reader
	last bool
	name string
	read chan string
}

// Read returns the text, then blocks if it is the last one.
func (o *openLog) Read(p []byte) (int, error) {
	if o.text.Len() > 0 {
		return o.text.Read(p)
	}
	o.read <- o.name
	if o.last {
		<-o.done
	}
	return 0, io.EOF
}

// Close does nothing.
func (o *openLog) Close() error { return nil }

func TestLogs_Follow_OrdersWhatComesTogetherAndGoesOnAfterARestart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	clock := clocktesting.NewFakeClock(now)
	logs := &following{read: make(chan string, 10), texts: map[string][]string{
		"seid":    {"2026-11-15T12:00:02.1Z before\n", "2026-11-15T12:00:02.1Z before\n2026-11-15T12:00:02.2Z after the restart\n"},
		"sidecar": {"2026-11-15T12:00:01Z first\n"},
	}}
	reader := &logReader{cluster: &Cluster{Logs: logs}, clock: clock, flags: &logFlags{follow: true, tail: -1}, trouble: io.Discard}
	printed := make(chan string, 10)
	ended := make(chan error)
	go func() {
		sources := []logSource{{name: "seid", container: "seid"}, {name: "sidecar", container: "sidecar"}}
		ended <- reader.follow(ctx, sources, func(l logLine) error { printed <- l.Text; return nil })
	}()
	<-logs.read
	<-logs.read
	want := []string{"first", "before", "after the restart"}
	for _, text := range want {
		if got := nextWhileTimePasses(clock, printed); got != text {
			t.Errorf("printed %q, want %q", got, text)
		}
	}
	cancel()
	if err := <-ended; err != nil || len(printed) > 0 {
		t.Errorf("ended with %v and %d more lines", err, len(printed))
	}
}

// nextWhileTimePasses lets the clock run until something is printed.
func nextWhileTimePasses(clock *clocktesting.FakeClock, printed <-chan string) string {
	for {
		select {
		case text := <-printed:
			return text
		default:
			clock.Step(holdBack)
			runtime.Gosched()
		}
	}
}
