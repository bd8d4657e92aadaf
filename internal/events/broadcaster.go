package events

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	k8sevents "k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Broadcaster sends events to the API server. It differs from the manager's own in what
// it thinks of a namespace that is being deleted, see silent. Add it to the manager, which
// stops it after the controllers.
type Broadcaster struct {
	k8sevents.EventBroadcaster
	cancel context.CancelFunc
}

// NewBroadcaster returns a Broadcaster that sends to sink from now on.
func NewBroadcaster(logger logr.Logger, sink k8sevents.EventSink) (*Broadcaster, error) {
	ctx, cancel := context.WithCancel(log.IntoContext(context.Background(), logger))
	b := &Broadcaster{EventBroadcaster: k8sevents.NewBroadcaster(silent{sink}), cancel: cancel}
	if err := b.StartRecordingToSinkWithContext(ctx); err != nil {
		cancel()
		return nil, fmt.Errorf("starting to send events: %w", err)
	}
	return b, nil
}

// Start implements manager.Runnable: it keeps the broadcaster until the manager ends.
func (b *Broadcaster) Start(ctx context.Context) error {
	<-ctx.Done()
	b.Shutdown()
	b.cancel()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. What needs no election is
// stopped after what does: the controllers tell to the end.
func (b *Broadcaster) NeedLeaderElection() bool { return false }

// silent drops events that are refused because their namespace is being deleted. They
// would be deleted along with it, and nobody could do anything about the refusal.
type silent struct{ k8sevents.EventSink }

// Create implements EventSink.
func (s silent) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	made, err := s.EventSink.Create(ctx, event)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		log.FromContext(ctx).V(1).Info("an event was not stored: its namespace is being deleted",
			"namespace", event.Namespace, "name", event.Regarding.Name, "reason", event.Reason)
		return event, nil
	}
	return made, err
}
