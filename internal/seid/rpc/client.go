package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultTimeout bounds one call unless the client is told otherwise.
const DefaultTimeout = 10 * time.Second

// LocalURL is where a node answers the other containers of its pod.
const LocalURL = "http://127.0.0.1:26657"

// maxAnswer bounds what one answer may take in memory. The largest honest ones
// are block results, which stay far below it.
const maxAnswer = 64 << 20

// Client calls one node. It is safe for concurrent use.
type Client struct {
	base    string
	http    *http.Client
	timeout time.Duration
	asPost  bool
}

// Option changes how a Client calls.
type Option func(*Client)

// WithTimeout bounds every single call; the context may end it earlier.
func WithTimeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// WithHTTPClient replaces the HTTP client, for example to share connections.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// direct has no proxy, as seid's client has none.
var direct = &http.Client{Transport: &http.Transport{Proxy: nil, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true}}

// AsSeidDoes makes every call a JSON-RPC POST and goes through no proxy, as seid's light
// client does: what can be reached in this way seid can reach as well.
func AsSeidDoes() Option {
	return func(c *Client) { c.asPost, c.http = true, direct }
}

// New returns a client of the node at baseURL, for example LocalURL. A plain
// host:port is taken as http, and as https if the port is 443.
func New(baseURL string, opts ...Option) *Client {
	c := &Client{base: normalize(baseURL), http: http.DefaultClient, timeout: DefaultTimeout}
	for _, opt := range opts {
		opt(c)
	}
	return c
}

func normalize(baseURL string) string {
	baseURL = strings.TrimRight(baseURL, "/")
	if rest, ok := strings.CutPrefix(baseURL, "tcp://"); ok {
		baseURL = rest
	}
	switch {
	case strings.Contains(baseURL, "://"):
		return baseURL
	case strings.HasSuffix(baseURL, ":443"):
		return "https://" + baseURL
	default:
		return "http://" + baseURL
	}
}

// URL is the address that the client calls.
func (c *Client) URL() string { return c.base }

// get makes a URI call and decodes the answer into out.
func (c *Client) get(ctx context.Context, method string, query url.Values, out any) error {
	_, err := c.getStatus(ctx, method, query, out)
	return err
}

// getStatus is get for callers to whom the HTTP status means something.
func (c *Client) getStatus(ctx context.Context, method string, query url.Values, out any) (int, error) {
	if c.asPost {
		params := make(map[string]any, len(query))
		for name := range query {
			params[name] = query.Get(name)
		}
		return http.StatusOK, c.post(ctx, method, params, out)
	}
	target := c.base + "/" + method
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	return c.do(ctx, method, http.MethodGet, target, nil, out)
}

// post makes a JSON-RPC call, which has no limits on length and one well-defined
// spelling of bytes.
func (c *Client) post(ctx context.Context, method string, params map[string]any, out any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("encoding %s: %w", method, err)
	}
	_, err = c.do(ctx, method, http.MethodPost, c.base, body, out)
	return err
}

func (c *Client) do(ctx context.Context, method, verb, target string, body []byte, out any) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, verb, target, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("calling %s: %w", method, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, fmt.Errorf("calling %s: %w: %w", method, ErrUnreachable, err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing can be done about it, and all was read

	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return resp.StatusCode, fmt.Errorf("reading the answer to %s: %w: %w", method, ErrUnreachable, err)
	case len(answer) > maxAnswer:
		return resp.StatusCode, fmt.Errorf("reading the answer to %s: longer than %d bytes", method, maxAnswer)
	}
	if err := decode(resp.StatusCode, answer, out); err != nil {
		return resp.StatusCode, fmt.Errorf("calling %s: %w", method, err)
	}
	return resp.StatusCode, nil
}
