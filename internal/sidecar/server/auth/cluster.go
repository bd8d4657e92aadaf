package auth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
	"k8s.io/utils/clock"
)

// How a pod finds its API server and proves who it is.
const (
	DefaultAPIServer = "https://kubernetes.default.svc"
	DefaultTokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token" //nolint:gosec // a path
	DefaultCAFile    = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
)

const (
	discoveryPath = "/.well-known/openid-configuration"
	// keysPath is asked for instead of the discovery document's jwks_uri, which
	// on managed clusters points to an address that pods need not reach.
	keysPath = "/openid/v1/jwks"

	fetchTimeout  = 5 * time.Second
	fetchMaxBytes = 1 << 20
	// keysMaxAge is the age at which keys are read again in the background, so
	// that a key the cluster dropped does not stay valid here forever.
	keysMaxAge = 10 * time.Minute
	// The least time between two reads, so that tokens with invented key ids
	// cannot be turned into load on the API server.
	pauseWithKeys    = 5 * time.Second
	pauseWithoutKeys = time.Second
)

// Cluster reads the issuer and the signing keys of service-account tokens from
// the API server. What it once read it keeps while the API server is away.
type Cluster struct {
	Server    string
	TokenFile string
	CAFile    string
	Clock     clock.PassiveClock

	flight singleflight.Group

	mu      sync.Mutex
	issuer  string
	keys    []jose.JSONWebKey
	readAt  time.Time
	triedAt time.Time
	lastErr error
}

// Lookup implements Keys.
func (c *Cluster) Lookup(ctx context.Context, keyID string) (string, []jose.JSONWebKey, error) {
	issuer, keys, stale := c.cached(keyID)
	if len(keys) > 0 {
		if stale && c.due() {
			c.flight.DoChan("refresh", c.refresh)
		}
		return issuer, keys, nil
	}
	if c.due() {
		select {
		case <-c.flight.DoChan("refresh", c.refresh):
		case <-ctx.Done():
			return "", nil, fmt.Errorf("reading signing keys: %w", context.Cause(ctx))
		}
	}
	if issuer, keys, _ = c.cached(keyID); len(keys) > 0 {
		return issuer, keys, nil
	}
	return "", nil, c.why()
}

// cached gives the keys that may have signed a token: the one of that id, or all
// of them when the token names none.
func (c *Cluster) cached(keyID string) (issuer string, keys []jose.JSONWebKey, stale bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.keys {
		if keyID == "" || k.KeyID == keyID {
			keys = append(keys, k)
		}
	}
	return c.issuer, keys, c.Clock.Since(c.readAt) > keysMaxAge
}

// due reports whether the API server may be asked again.
func (c *Cluster) due() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	pause := pauseWithKeys
	if len(c.keys) == 0 {
		pause = pauseWithoutKeys
	}
	return c.triedAt.IsZero() || c.Clock.Since(c.triedAt) >= pause
}

// why tells a key nobody has from one that could not be looked for.
func (c *Cluster) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.keys) > 0 {
		return ErrUnknownKey
	}
	if c.lastErr != nil {
		return c.lastErr
	}
	return errors.New("the signing keys have not been read yet")
}

func (c *Cluster) refresh() (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	issuer, keys, err := c.read(ctx)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.triedAt, c.lastErr = c.Clock.Now(), err
	if err == nil {
		c.issuer, c.keys, c.readAt = issuer, keys, c.triedAt
	}
	return nil, err
}

func (c *Cluster) read(ctx context.Context) (string, []jose.JSONWebKey, error) {
	client, err := c.httpClient()
	if err != nil {
		return "", nil, err
	}
	var discovery struct {
		Issuer string `json:"issuer"`
	}
	if err := c.get(ctx, client, discoveryPath, &discovery); err != nil {
		return "", nil, err
	}
	if discovery.Issuer == "" {
		return "", nil, fmt.Errorf("reading %s: it names no issuer", discoveryPath)
	}
	var set jose.JSONWebKeySet
	if err := c.get(ctx, client, keysPath, &set); err != nil {
		return "", nil, err
	}
	var keys []jose.JSONWebKey
	for _, k := range set.Keys {
		if k.Valid() && k.IsPublic() && (k.Use == "" || k.Use == "sig") {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return "", nil, fmt.Errorf("reading %s: it holds no usable key", keysPath)
	}
	return discovery.Issuer, keys, nil
}

// httpClient is recreated for every read: reads are rare, and the CA file may
// have been rotated.
func (c *Cluster) httpClient() (*http.Client, error) {
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading the cluster's CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("reading the cluster's CA: %s holds no certificate", c.CAFile)
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true,
	}}, nil
}

func (c *Cluster) get(ctx context.Context, client *http.Client, path string, into any) error {
	token, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return fmt.Errorf("reading the pod's own token: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.Server, "/")+path, nil)
	if err != nil {
		return fmt.Errorf("asking for %s: %w", path, err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("asking for %s: %w", path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("asking for %s: the API server answers %s", path, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, fetchMaxBytes)).Decode(into); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}
