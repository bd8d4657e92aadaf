package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// HistoryEntry is something that happened.
type HistoryEntry struct {
	Time   metav1.Time `json:"time"`
	Object string      `json:"object"`
	// Type is that of an event, Normal or Warning, or Plan, Task or Rollout.
	Type   string `json:"type"`
	Reason string `json:"reason"`
	Count  int32  `json:"count,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// regarding names an object that events are about.
type regarding struct{ kind, name string }

// eventsOf are the events about objects of a namespace, oldest first, as far as the API server keeps them:
// an hour, unless it is told otherwise.
func (c *Cluster) eventsOf(ctx context.Context, namespace string, objects []regarding) ([]HistoryEntry, error) {
	var found []HistoryEntry
	for _, name := range namesOf(objects) {
		list := &eventsv1.EventList{}
		if err := c.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{"regarding.name": name}); err != nil {
			return nil, fmt.Errorf("listing the events of %s: %w", name, err)
		}
		for i := range list.Items {
			e := &list.Items[i]
			if slices.Contains(objects, regarding{e.Regarding.Kind, e.Regarding.Name}) {
				found = append(found, entryOf(e))
			}
		}
	}
	byTime(found)
	return found, nil
}

func namesOf(objects []regarding) []string {
	var names []string
	for _, o := range objects {
		if !slices.Contains(names, o.name) {
			names = append(names, o.name)
		}
	}
	return names
}

func entryOf(e *eventsv1.Event) HistoryEntry {
	entry := HistoryEntry{
		Time: metav1.NewTime(lastSeen(e)), Object: strings.ToLower(e.Regarding.Kind) + "/" + e.Regarding.Name,
		Type: e.Type, Reason: e.Reason, Count: e.DeprecatedCount, Detail: strings.Join(strings.Fields(e.Note), " "),
	}
	if e.Series != nil {
		entry.Count = e.Series.Count
	}
	return entry
}

// lastSeen is when an event happened last. The newer API and the older one have it in different fields.
func lastSeen(e *eventsv1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.DeprecatedLastTimestamp.IsZero():
		return e.DeprecatedLastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	default:
		return e.CreationTimestamp.Time
	}
}

func byTime(entries []HistoryEntry) {
	slices.SortStableFunc(entries, func(a, b HistoryEntry) int { return a.Time.Compare(b.Time.Time) })
}
