package messages_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/messages"
)

func TestCollect_FindsEveryWayToWordAMessage(t *testing.T) {
	got, err := messages.Collect("testdata", []string{"said"}, map[string]string{"api": "reasons"})
	if err != nil {
		t.Fatal(err)
	}
	want := []messages.Message{
		{Package: "said", Function: "node.conditions", Reasons: []string{"NotReady"}, Format: "seid waits: {n.why()}"},
		{Package: "said", Function: "node.conditions", Reasons: []string{"Own"}, Format: "a constant of the package"},
		{Package: "said", Function: "node.conditions", Reasons: []string{"Ready"}, Format: "block %d of %d, in two lines"},
		{Package: "said", Function: "node.why", Format: "reading %s: %w"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestCollect_FolderIsMissing_IsAnError(t *testing.T) {
	if _, err := messages.Collect("testdata", []string{"elsewhere"}, nil); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}
