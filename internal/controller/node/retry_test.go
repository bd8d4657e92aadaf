package node

import (
	"testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

func TestRetryAsked_TellsTheNodesFromItsFleets(t *testing.T) {
	for name, c := range map[string]struct {
		ofNode, ofFleet         string
		wantOfNode, wantOfFleet bool
	}{
		"nobody":                      {"", "", false, false},
		"of the node":                 {"new", "", true, false},
		"of its fleet":                {"", "new", false, true},
		"of both":                     {"new", "new", true, true},
		"done before":                 {"old", "older", false, false},
		"of its fleet, as the node's": {"old", "old", false, true},
	} {
		s := &scope{node: &v1alpha1.SeiNode{}}
		s.node.Annotations = map[string]string{v1alpha1.AnnotationRetry: c.ofNode, v1alpha1.AnnotationFleetRetry: c.ofFleet}
		s.node.Status.RetriedFor, s.node.Status.RetriedForFleet = "old", "older"
		if ofNode, ofFleet := s.retryAsked(); ofNode != c.wantOfNode || ofFleet != c.wantOfFleet {
			t.Errorf("%s: of the node %t, of its fleet %t, want %t and %t", name, ofNode, ofFleet, c.wantOfNode, c.wantOfFleet)
		}
		s.noteRetry()
		if ofNode, ofFleet := s.retryAsked(); ofNode || ofFleet {
			t.Errorf("%s: asked once more: of the node %t, of its fleet %t", name, ofNode, ofFleet)
		}
	}
}
