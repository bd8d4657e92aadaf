package client

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestNode_DecodesTheDocument(t *testing.T) {
	s := dial(t, answer(http.StatusOK, `{"apiLevel":4,"gate":{"state":"held"},"home":{"stage":"synced","signs":true},"seid":{"state":"exited"},
		"sync":{"state":"halted","message":"m"},"upgrade":{"name":"v7","height":5},"snapshots":[{"height":4,"format":1,"chunks":2}],"fromTheFuture":1}`), Options{})
	want := api.Node{
		APILevel: 4, Gate: api.Gate{State: api.GateHeld}, Home: api.Home{Stage: api.HomeSynced, Signs: true},
		Seid: api.Seid{State: api.SeidExited}, Sync: api.Sync{State: api.SyncHalted, Message: "m"},
		Upgrade: &api.Upgrade{Name: "v7", Height: 5}, Snapshots: []api.Snapshot{{Height: 4, Format: 1, Chunks: 2}},
	}
	got, err := s.Node(t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("(-want +got), %v:\n%s", err, diff)
	}
}

func TestNode_AnswersThatAreNoDocument(t *testing.T) {
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		want    error
	}{
		"an older sidecar": {http.NotFound, ErrNotFound},
		"somebody else":    {answer(http.StatusMisdirectedRequest, `{"error":"this is b"}`), ErrWrongNode},
		"not JSON":         {answer(http.StatusOK, `<html>`), ErrUnreachable},
		"endless":          {answer(http.StatusOK, `{"sync":{"message":"`+strings.Repeat("x", maxSmall)+`"}}`), ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := dial(t, tc.handler, Options{}).Node(t.Context()); !errors.Is(err, tc.want) {
				t.Errorf("%+v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

func TestNode_HasTheTimeOfAHealthCheck(t *testing.T) {
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	s := dial(t, hangs, Options{HealthTimeout: time.Millisecond, Timeout: time.Hour})
	if _, err := s.Node(t.Context()); !errors.Is(err, ErrUnreachable) {
		t.Errorf("%v, want %v", err, ErrUnreachable)
	}
}
