package events

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	k8sevents "k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/sei-operator/sei-operator/internal/text"
)

// maxNote is the longest note the API server takes, in bytes.
const maxNote = 1024

// Event is something to tell a user.
type Event struct {
	Reason Reason
	Note   string
	// Related is the other object the event is about, if any.
	Related runtime.Object
}

// New makes an Event with a formatted note.
func New(reason Reason, format string, args ...any) Event {
	return Event{Reason: reason, Note: fmt.Sprintf(format, args...)}
}

// About returns the event with a related object.
func (e Event) About(related runtime.Object) Event {
	e.Related = related
	return e
}

// Recorder emits events.
type Recorder struct {
	sink    k8sevents.EventRecorder
	entries map[Reason]Entry
}

// NewRecorder returns a Recorder over one of a Broadcaster.
func NewRecorder(sink k8sevents.EventRecorder) *Recorder {
	entries := map[Reason]Entry{}
	for _, e := range Catalogue() {
		entries[e.Reason] = e
	}
	return &Recorder{sink: sink, entries: entries}
}

// Emit tells about an object, and the log too: one line per event. It does not wait for
// the API server.
func (r *Recorder) Emit(ctx context.Context, object runtime.Object, list ...Event) {
	for _, event := range list {
		entry, ok := r.entries[event.Reason]
		if !ok { // the catalogue's test sees to it that this cannot happen
			entry = Entry{Reason: event.Reason, Type: warning, Action: string(event.Reason)}
		}
		r.sink.Eventf(object, event.Related, entry.Type, string(entry.Reason), entry.Action, "%s", text.Shorten(event.Note, maxNote))
		log.FromContext(ctx).Info(event.Note, "event", event.Reason)
	}
}
