package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

// meant turns away requests that name another node or pod: the address they came
// to belonged to somebody else when the caller looked it up. Known callers alone are told who
// this is.
func (s *server) meant(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		meant, own := s.mistaken(r)
		if meant == "" {
			next.ServeHTTP(w, r)
			return
		}
		wrong := fmt.Sprintf("the request is for %s, which this is not", meant)
		if r.Context().Value(callerKey{}) != nil {
			wrong = fmt.Sprintf("this is %s, the request is for %s", own, meant)
		}
		respondError(w, http.StatusMisdirectedRequest, wrong, &api.ErrorDetail{
			Code: api.CodeWrongNode, Retryable: true, Hint: "look the pod's address up again",
		})
	})
}

// mistaken gives which node a request is for and who this is instead; empty when it is for us.
func (s *server) mistaken(r *http.Request) (meant, own string) {
	for _, c := range []struct{ header, own string }{{api.HeaderNode, s.Identity.Node}, {api.HeaderPodUID, s.Identity.PodUID}} {
		if meant := r.Header.Get(c.header); meant != "" && c.own != "" && meant != c.own {
			return meant, c.own
		}
	}
	return "", ""
}

// encrypted turns away what came in the clear, before anybody looks at its token: whoever sent it
// that way has shown it to the network.
func (s *server) encrypted(next http.Handler) http.Handler {
	if !s.RequireTLS {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !overTLS(r) {
			s.reject(w, r, &auth.RejectionError{Status: http.StatusForbidden, Reason: "plaintext", Message: "this path is served over TLS only"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

type callerKey struct{}

// authenticated lets known callers pass and notes who they are.
func (s *server) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := s.Auth.Authenticate(r)
		if err != nil {
			s.reject(w, r, err)
			return
		}
		if s.Heard != nil {
			s.Heard()
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
	})
}

func (s *server) reject(w http.ResponseWriter, r *http.Request, err error) {
	rejection, ok := errors.AsType[*auth.RejectionError](err)
	if !ok {
		rejection = &auth.RejectionError{Status: http.StatusInternalServerError, Reason: "internal", Message: err.Error()}
	}
	s.rejections.WithLabelValues(rejection.Reason).Inc()
	s.Log.Warn("request rejected", "method", r.Method, "path", r.URL.Path, "remote", r.RemoteAddr,
		"status", rejection.Status, "reason", rejection.Reason, "message", rejection.Message)
	detail := &api.ErrorDetail{Code: api.CodeUnauthenticated}
	switch rejection.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusForbidden:
		detail.Code = api.CodeForbidden
	default:
		detail.Code, detail.Retryable = api.CodeUnavailable, true
		w.Header().Set("Retry-After", retryAfter)
	}
	respondError(w, rejection.Status, rejection.Message, detail)
}

// audited logs every request that may change something together with its caller.
func (s *server) audited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		seen := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
		note := &auditNote{}
		r = r.WithContext(context.WithValue(r.Context(), auditKey{}, note))
		next.ServeHTTP(seen, r)
		s.Log.Info("request", "caller", r.Context().Value(callerKey{}), "method", r.Method, "path", r.URL.Path,
			"remote", r.RemoteAddr, "status", seen.status, "task", note.task, "type", note.taskType)
	})
}

type auditKey struct{}

// auditNote is what a handler adds to the log line of its request. Parameters
// are never part of it.
type auditNote struct {
	task     string
	taskType api.TaskType
}

func noteTask(r *http.Request, id string, t api.TaskType) {
	if note, ok := r.Context().Value(auditKey{}).(*auditNote); ok {
		note.task, note.taskType = id, t
	}
}

type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (w *statusRecorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
