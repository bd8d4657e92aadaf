package events_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/events"
)

// sink keeps what reaches the client library.
type sink []string

func (s *sink) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	about := ""
	if related != nil {
		about = " about " + related.(metav1.Object).GetName()
	}
	*s = append(*s, fmt.Sprintf("%s %s %s %s%s: %s", regarding.(metav1.Object).GetName(), eventType, reason, action, about, fmt.Sprintf(note, args...)))
}

func TestEmit_TypeAndActionComeFromTheCatalogue(t *testing.T) {
	var got sink
	node := &seiv1.SeiNode{ObjectMeta: metav1.ObjectMeta{Name: "rpc-0"}}
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "rpc-0-sts"}}
	events.NewRecorder(&got).Emit(t.Context(), node,
		events.New(events.PhaseChanged, "from %s, 100%% sure", "Pending"),
		events.New(events.StatefulSetRecreated, "made again").About(sts),
	)
	want := sink{
		"rpc-0 Normal PhaseChanged ChangePhase: from Pending, 100% sure",
		"rpc-0 Warning StatefulSetRecreated CreateStatefulSet about rpc-0-sts: made again",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestEmit_EachEvent_IsOneLineOfTheLog(t *testing.T) {
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	var got sink
	events.NewRecorder(&got).Emit(log.IntoContext(t.Context(), logger), &seiv1.SeiNode{},
		events.New(events.Paused, "it is paused"), events.New(events.Resumed, "it goes on"))
	want := []string{
		`"level"=0 "msg"="it is paused" "event"="Paused"`,
		`"level"=0 "msg"="it goes on" "event"="Resumed"`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestEmit_OverlongNote_IsCutToWhatTheServerTakes(t *testing.T) {
	var got sink
	events.NewRecorder(&got).Emit(t.Context(), &seiv1.SeiNode{}, events.New(events.PlanFailed, "%s", strings.Repeat("é", 2000)))
	_, note, _ := strings.Cut(got[0], ": ")
	if len(note) > 1024 || len(note) < 1000 || !utf8.ValidString(note) || !strings.HasSuffix(note, "...") {
		t.Errorf("the note has %d bytes and ends in %q", len(note), note[len(note)-5:])
	}
}

func TestLatch_PassesEachFactOnce(t *testing.T) {
	var latch events.Latch
	a, b := types.NamespacedName{Namespace: "sei", Name: "a"}, types.NamespacedName{Namespace: "sei", Name: "b"}
	steps := []struct {
		name   string
		object types.NamespacedName
		reason events.Reason
		text   string
		want   bool
	}{
		{"over before it began", a, events.PeerResolutionFailed, "", false},
		{"new", a, events.PeerResolutionFailed, "timeout", true},
		{"the same again", a, events.PeerResolutionFailed, "timeout", false},
		{"another object", b, events.PeerResolutionFailed, "timeout", true},
		{"another reason", a, events.ReconcileFailed, "timeout", true},
		{"changed", a, events.PeerResolutionFailed, "refused", true},
		{"over", a, events.PeerResolutionFailed, "", false},
		{"back", a, events.PeerResolutionFailed, "refused", true},
	}
	for _, s := range steps {
		if got := latch.Changed(s.object, s.reason, s.text); got != s.want {
			t.Errorf("%s: Changed = %v, want %v", s.name, got, s.want)
		}
	}
	latch.Forget(a)
	if !latch.Changed(a, events.PeerResolutionFailed, "refused") || latch.Changed(b, events.PeerResolutionFailed, "timeout") {
		t.Error("Forget dropped too little or too much")
	}
}
