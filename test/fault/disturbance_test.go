package fault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/envtest"
)

// disturbance is what happens to one call.
type disturbance struct {
	name string
	fits func(call) bool
	// meet takes the place of the call.
	meet meeting
	// twice: it happens at two calls of a run.
	twice bool
}

// forgets reports whether the sidecar does not know any more what it was given, so that it may be
// given it again.
func (d *disturbance) forgets() bool { return d != nil && d.name == "sidecar-lost-store" }

// disturbances are all there are. The sidecars' requests that change nothing have no crashes of
// their own: a crash there is one after the last call that changed something.
var disturbances = []*disturbance{
	{"crash-before", func(c call) bool { return c.changes }, crashBefore, false},
	{"crash-after", func(c call) bool { return c.changes }, crashAfter, false},
	{"crash-twice", func(c call) bool { return c.changes }, crashAfter, true},
	{"api-conflict", func(c call) bool { return c.toAPI && c.verb != "create" }, conflict, false},
	{"api-429", func(c call) bool { return c.toAPI }, answer(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests), false},
	{"api-500", func(c call) bool { return c.toAPI }, answer(http.StatusInternalServerError, metav1.StatusReasonInternalError), false},
	{"api-lost-reply", func(c call) bool { return c.toAPI }, loseReply, false},
	{"cache-late", func(c call) bool { return c.toAPI && c.changes }, late(its, (*envtest.Watches).Release), false},
	{"cache-relist", func(c call) bool { return c.toAPI && c.changes }, late(its, (*envtest.Watches).Expire), false},
	{"cache-frozen", func(c call) bool { return c.changes }, late(every, (*envtest.Watches).Release), false},
	{"cache-last-event", func(c call) bool { return c.changes }, late(every, (*envtest.Watches).Expire), false},
	{"cache-others-late", func(c call) bool { return c.toAPI && c.changes }, late(others, (*envtest.Watches).Release), false},
	{"cache-cut", func(c call) bool { return c.changes }, cut, false},
	{"stale-start-1", destructive, staleStart(1), false},
	{"stale-start-2", destructive, staleStart(2), false},
	{"stale-start-3", destructive, staleStart(3), false},
	{"stale-delete", func(c call) bool { return c.toAPI && c.verb == "delete" }, raceToDelete, false},
	{"sidecar-lost-reply", func(c call) bool { return !c.toAPI }, loseReply, false},
	{"sidecar-twice", func(c call) bool { return !c.toAPI && c.changes }, twice, false},
	{"sidecar-500", func(c call) bool { return !c.toAPI }, answer(http.StatusInternalServerError, metav1.StatusReasonInternalError), false},
	{"sidecar-refused", func(c call) bool { return !c.toAPI }, refuse, false},
	{"sidecar-slow", func(c call) bool { return !c.toAPI }, slow, false},
	{"sidecar-lost-store", func(c call) bool { return !c.toAPI && c.changes }, loseStore, false},
}

func disturbanceNamed(name string) *disturbance {
	for _, d := range disturbances {
		if d.name == name {
			return d
		}
	}
	return nil
}

func crashBefore(l *life, _ *http.Request, _ http.RoundTripper) (*http.Response, error) {
	l.kill()
	return nil, errKilled
}

func crashAfter(l *life, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	resp, _ := next.RoundTrip(req)
	drop(resp)
	l.kill()
	return nil, errKilled
}

// loseReply has the call take effect and its caller see a timeout.
func loseReply(_ *life, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	resp, err := next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	drop(resp)
	return nil, fmt.Errorf("the reply of %s %s was lost: %w", req.Method, req.URL.Path, os.ErrDeadlineExceeded)
}

// slowness is longer than a pass waits for a sidecar, and shorter than a request may take.
const slowness = time.Second

// slow has the call arrive, and take its time.
func slow(_ *life, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	late := time.NewTimer(slowness)
	defer late.Stop()
	select {
	case <-late.C:
		return next.RoundTrip(req)
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
}

// loseStore has the call take effect, and the sidecar start over without its store: it knows no task,
// and its gate is closed.
func loseStore(l *life, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	resp, err := next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if err := l.wire.loseStore(req.Header.Get(api.HeaderNode)); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

func refuse(*life, *http.Request, http.RoundTripper) (*http.Response, error) {
	return nil, &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}
}

// twice delivers a request two times, as a proxy that tries again does. The second answer counts.
func twice(_ *life, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("reading a request: %w", err)
	}
	first := req.Clone(req.Context())
	first.Body, req.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
	resp, err := next.RoundTrip(first)
	if err != nil {
		return nil, err
	}
	drop(resp)
	return next.RoundTrip(req)
}

// answer answers in the place of the server, which never hears of the request. The API server's 429
// names a time after which clients of Kubernetes try again by themselves; this one has given up.
func answer(code int32, reason metav1.StatusReason) meeting {
	return func(_ *life, req *http.Request, _ http.RoundTripper) (*http.Response, error) {
		// A sidecar's error has the text in a field of its own.
		body, err := json.Marshal(struct {
			metav1.Status `json:",inline"`
			Error         string `json:"error"`
		}{metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Reason: reason, Code: code, Message: "disturbed on purpose",
		}, "disturbed on purpose"})
		if err != nil {
			return nil, fmt.Errorf("encoding an answer: %w", err)
		}
		return &http.Response{
			StatusCode: int(code), Status: http.StatusText(int(code)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		}, nil
	}
}

// annotationTouched is what somebody else writes.
const annotationTouched = "fault/touched"

// conflict has somebody else write the object first. Who sends the version that he has seen gets a
// conflict; who does not, writes over it.
func conflict(_ *life, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	touch := req.Clone(req.Context())
	body := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"yes"}}}`, annotationTouched)
	touch.Method, touch.Body, touch.ContentLength, touch.GetBody = http.MethodPatch, io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	touch.URL.Path, touch.URL.RawQuery = strings.TrimSuffix(touch.URL.Path, "/status"), ""
	touch.Header.Set("Content-Type", "application/merge-patch+json")
	resp, err := next.RoundTrip(touch)
	if err != nil {
		return nil, err
	}
	drop(resp)
	return next.RoundTrip(req)
}
