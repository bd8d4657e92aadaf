package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/test/envtest"
)

// lateness is for how long a cache does not show what happens.
const lateness = 400 * time.Millisecond

// meeting takes the place of a call.
type meeting = func(l *life, req *http.Request, next http.RoundTripper) (*http.Response, error)

// its, others and every choose resources by that of the call: it alone, all but it, and all.
func its(resource string, _ []string) []string { return []string{resource} }

func others(resource string, watched []string) []string {
	return slices.DeleteFunc(slices.Clone(watched), func(r string) bool { return r == resource })
}

func every(_ string, watched []string) []string { return watched }

// late has the call take effect and keeps from the operator's cache for a while what happens to some
// resources from then on, whoever does it. Then all of it is delivered, or only what is there by then.
// Of two kinds of which one is kept back, events come in another order than they happened.
func late(which func(resource string, watched []string) []string, end func(*envtest.Watches, string)) meeting {
	return func(l *life, req *http.Request, next http.RoundTripper) (*http.Response, error) {
		r, err := l.wire.describer.Describe(req)
		if err != nil {
			return nil, fmt.Errorf("naming a call: %w", err)
		}
		kept := which(r.Resource, l.wire.watches.Watched())
		for _, resource := range kept {
			l.wire.watches.Hold(resource)
		}
		time.AfterFunc(lateness, func() {
			for _, resource := range kept {
				end(l.wire.watches, resource)
			}
		})
		return next.RoundTrip(req)
	}
}

// cut has the call take effect and ends every watch. The operator resumes them where they were.
func cut(l *life, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	resp, err := next.RoundTrip(req)
	for _, resource := range l.wire.watches.Watched() {
		l.wire.watches.Cut(resource)
	}
	return resp, err
}

// succession is how long the successor of a deleted object is waited for.
const succession = 2 * time.Second

// raceToDelete has somebody else delete the object first, so that the deletion was decided on an
// object that is gone. If another one takes its name, the deletion arrives after that.
func raceToDelete(_ *life, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), succession)
	defer cancel()
	before, _, err := uidAt(ctx, req, next)
	if err != nil {
		return nil, err
	}
	// As kubectl does: the API server's own default for a Job leaves its pod behind.
	first := without(ctx, req, http.MethodDelete)
	first.URL.RawQuery = url.Values{"propagationPolicy": {string(metav1.DeletePropagationBackground)}}.Encode()
	resp, err := next.RoundTrip(first)
	if err != nil {
		return nil, err
	}
	drop(resp)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		// It may also stay until a finalizer is removed, or have no successor.
		if uid, there, err := uidAt(ctx, req, next); err != nil || there && uid != before {
			break
		}
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		break
	}
	return next.RoundTrip(req)
}

// without is a request for the same object by another method, without a body.
func without(ctx context.Context, req *http.Request, method string) *http.Request {
	bare := req.Clone(ctx)
	bare.Method, bare.Body, bare.ContentLength, bare.GetBody = method, nil, 0, nil
	bare.Header.Set("Accept", "application/json")
	bare.Header.Del("Content-Type")
	return bare
}

// uidAt is the UID of the object that a request is about.
func uidAt(ctx context.Context, req *http.Request, next http.RoundTripper) (uid string, there bool, err error) {
	resp, err := next.RoundTrip(without(ctx, req, http.MethodGet))
	if err != nil {
		return "", false, err
	}
	defer func() { _ = resp.Body.Close() }()
	var object metav1.PartialObjectMetadata
	if resp.StatusCode != http.StatusOK {
		return "", false, nil
	}
	if err := json.NewDecoder(resp.Body).Decode(&object); err != nil {
		return "", false, fmt.Errorf("reading an object: %w", err)
	}
	return string(object.UID), true, nil
}
