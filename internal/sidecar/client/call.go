package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/text"
)

// call is one question to a sidecar.
type call struct {
	method, path string
	body         []byte
	timeout      time.Duration
	// limit is what is read of the answer at most.
	limit int64
}

func (c call) name() string { return c.method + " " + c.path }

// get is a call that asks only.
func (r *remote) get(path string, limit int64) call {
	return call{method: http.MethodGet, path: path, timeout: r.pool.opts.Timeout, limit: limit}
}

// do makes a call. The answer's JSON goes into out unless that is nil.
func (r *remote) do(ctx context.Context, c call, out any) error {
	if r.target.ServerName == "" && r.pool.opts.RefusePlaintext {
		return fmt.Errorf("%s: %w", c.name(), ErrPlaintext)
	}
	if r.pool.opts.Tokens == nil || api.IsPublic(c.path) {
		return r.send(ctx, c, "", out)
	}
	audience, err := r.audience()
	if err != nil {
		return fmt.Errorf("%s: %w", c.name(), err)
	}
	err = r.sendAs(ctx, c, audience, out)
	if !refusesToken(err) {
		return err
	}
	if audience == api.TokenAudience {
		r.pool.older.remove(r.target.PodUID)
		return err
	}
	if r.pool.opts.RefuseShared {
		return err
	}
	// It may be an older sidecar in a pod of a newer template.
	if again := r.sendAs(ctx, c, api.TokenAudience, out); !refusesToken(again) && !errors.Is(again, ErrNoToken) {
		r.pool.older.add(r.target.PodUID)
		return again
	}
	return err
}

// sendAs makes a call with a token. To get one takes from the time of the call.
func (r *remote) sendAs(ctx context.Context, c call, audience string, out any) error {
	start := time.Now()
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	token, err := r.pool.opts.Tokens.Token(bounded, audience)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", c.name(), context.Cause(ctx))
	case err != nil:
		return fmt.Errorf("%s: %w: %w", c.name(), ErrNoToken, err)
	}
	c.timeout -= time.Since(start)
	err = r.send(ctx, c, token, out)
	if refusesToken(err) {
		r.pool.opts.Tokens.Refused(audience, token)
	}
	return err
}

// refusesToken reports whether an answer says that the token is not valid there.
func refusesToken(err error) bool {
	answer, ok := errors.AsType[*Error](err)
	return ok && answer.Status == http.StatusUnauthorized
}

// send makes one request.
func (r *remote) send(ctx context.Context, c call, token string, out any) error {
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := r.request(bounded, c, token)
	if err != nil {
		return fmt.Errorf("%s: %w", c.name(), err)
	}
	resp, err := r.pool.http.Do(req)
	if err != nil {
		return unreachable(ctx, c.name(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, c.limit+1))
	if err != nil {
		return unreachable(ctx, c.name(), err)
	}
	if int64(len(raw)) > c.limit {
		return fmt.Errorf("%s: %w: its answer is longer than %d bytes", c.name(), ErrUnreachable, c.limit)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return answerError(c.name(), resp.StatusCode, raw)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s: %w: reading its answer: %w", c.name(), ErrUnreachable, err)
	}
	return nil
}

func (r *remote) request(ctx context.Context, c call, token string) (*http.Request, error) {
	origin, err := r.target.origin()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(withTarget(ctx, r.target), c.method, origin+c.path, bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	if c.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for header, value := range map[string]string{api.HeaderNode: r.target.Node, api.HeaderPodUID: r.target.PodUID} {
		if value != "" {
			req.Header.Set(header, value)
		}
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, nil
}

// unreachable tells a caller that gave up from a sidecar that did not answer.
func unreachable(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", name, context.Cause(ctx))
	}
	return fmt.Errorf("%s: %w: %w", name, ErrUnreachable, err)
}

func answerError(name string, status int, raw []byte) error {
	answer := &Error{Call: name, Status: status}
	var body api.ErrorBody
	if json.Unmarshal(raw, &body) == nil && body.Error != "" {
		answer.Message, answer.Detail = text.Shorten(body.Error, maxWords), body.ErrorDetail
		shortenDetail(answer.Detail)
	} else {
		answer.Message = strings.TrimSpace(text.Shorten(string(raw), 200))
	}
	if answer.Message == "" {
		answer.Message = http.StatusText(status)
	}
	return answer
}
