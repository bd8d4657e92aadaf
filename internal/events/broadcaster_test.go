package events_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	k8sevents "k8s.io/client-go/tools/events"

	"github.com/sei-operator/sei-operator/internal/events"
)

// refusing is an API server that takes no event.
type refusing struct {
	k8sevents.EventSink
	why func(namespace string) error
}

func (r refusing) Create(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return nil, r.why(event.Namespace)
}

// forbidden is what the API server says to something new, in a namespace that ends and in any other.
func forbidden(namespace string) error {
	err := apierrors.NewForbidden(schema.GroupResource{Group: "events.k8s.io", Resource: "events"}, "e", errors.New("no"))
	if namespace == "ending" {
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause, Message: "it ends"}}
	}
	return err
}

func TestBroadcaster_EventsOfANamespaceThatEnds_AreNoErrors(t *testing.T) {
	for namespace, want := range map[string]string{
		"ending": `"level"=1 "msg"="an event was not stored: its namespace is being deleted" "namespace"="ending" "name"="n" "reason"="Paused"`,
		"lively": `"msg"="Server rejected event (will not retry!)" "error"=`,
	} {
		lines := make(chan string, 10)
		logger := funcr.New(func(_, args string) { lines <- args }, funcr.Options{Verbosity: 1})
		b, err := events.NewBroadcaster(logger, refusing{why: forbidden})
		if err != nil {
			t.Fatal(err)
		}
		node := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "n"}}
		b.NewRecorder(scheme.Scheme, "test").Eventf(node, nil, corev1.EventTypeNormal, "Paused", "Pause", "it is paused")
		if got := <-lines; !strings.HasPrefix(got, want) {
			t.Errorf("%s: the log says %s, want %s", namespace, got, want)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := b.Start(ended); err != nil {
			t.Error(err)
		}
	}
}
