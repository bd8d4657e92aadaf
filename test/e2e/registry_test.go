package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"golang.org/x/time/rate"
)

const (
	// registryHost is where machines find the registry: a port of each of them that a Service leads away from. Container
	// runtimes speak plain HTTP with loopback addresses, and with no others unless they are told to.
	registryHost     = "127.0.0.1:30500"
	registryNodePort = 30500
	// registryRate is how many bytes a second the registry gives, as over a link of some 160 Mbit/s. Without a bound this
	// machine would copy from itself, and hardly anything but the unpacking would be measured.
	registryRate = 20 << 20
	// registryBurst evens out how precisely a busy machine sleeps.
	registryBurst    = 1 << 20
	registryUser     = "e2e"
	registryPassword = "pull"
)

// registryRepository is another one in each run: a cluster that was kept has the images of the run before.
var registryRepository = "seid-" + strconv.FormatInt(time.Now().Unix(), 36)

// imageRegistry has images that are on no machine yet. It gives them to those who have its password, at a bounded rate, and
// counts what it gives.
type imageRegistry struct {
	api   http.Handler
	blobs map[v1.Hash]v1.Layer
	// sizes are the bytes of each image, by its tag.
	sizes map[string]int64
	line  *rate.Limiter
	// sent are the bytes of images that were given so far.
	sent atomic.Int64

	mu     sync.Mutex
	closed bool
	// asked is when somebody asked for something last.
	asked time.Time
}

func newRegistry() *imageRegistry {
	r := &imageRegistry{blobs: map[v1.Hash]v1.Layer{}, sizes: map[string]int64{}, line: rate.NewLimiter(registryRate, registryBurst)}
	r.api = registry.New(registry.WithBlobHandler(r), registry.Logger(log.New(io.Discard, "", 0)))
	return r
}

// add puts an image into the registry. Its files stay where they are.
func (r *imageRegistry) add(image v1.Image, tag string) error {
	layers, err := image.Layers()
	if err != nil {
		return fmt.Errorf("reading the layers of an image: %w", err)
	}
	config, err := partial.ConfigLayer(image)
	if err != nil {
		return fmt.Errorf("reading the configuration of an image: %w", err)
	}
	for _, blob := range append(layers, config) {
		digest, err := blob.Digest()
		if err != nil {
			return fmt.Errorf("hashing an image: %w", err)
		}
		size, err := blob.Size()
		if err != nil {
			return fmt.Errorf("measuring an image: %w", err)
		}
		r.blobs[digest] = blob
		r.sizes[tag] += size
	}
	return r.putManifest(image, tag)
}

func (r *imageRegistry) putManifest(image v1.Image, tag string) error {
	manifest, err := image.RawManifest()
	if err != nil {
		return fmt.Errorf("reading the manifest of an image: %w", err)
	}
	kind, err := image.MediaType()
	if err != nil {
		return fmt.Errorf("reading the type of an image: %w", err)
	}
	request := httptest.NewRequest(http.MethodPut, "/v2/"+registryRepository+"/manifests/"+tag, bytes.NewReader(manifest))
	request.Header.Set("Content-Type", string(kind))
	answer := httptest.NewRecorder()
	r.api.ServeHTTP(answer, request)
	if answer.Code != http.StatusCreated {
		return fmt.Errorf("putting image %s into the registry: %d: %s", tag, answer.Code, answer.Body)
	}
	return nil
}

// ServeHTTP answers those who have the password while the registry is open.
func (r *imageRegistry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	user, password, _ := request.BasicAuth()
	switch {
	case !r.letsIn():
		http.Error(w, "closed", http.StatusServiceUnavailable)
	case user != registryUser || password != registryPassword:
		w.Header().Set("WWW-Authenticate", `Basic realm="e2e"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
	default:
		r.api.ServeHTTP(w, request)
	}
}

// letsIn notes that somebody asks, and reports whether the registry is open.
func (r *imageRegistry) letsIn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = time.Now()
	return !r.closed
}

// setClosed closes the registry, or opens it.
func (r *imageRegistry) setClosed(closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = closed
}

// lastAsked is when somebody asked for something last.
func (r *imageRegistry) lastAsked() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// Stat is the size of a part of an image.
func (r *imageRegistry) Stat(_ context.Context, _ string, digest v1.Hash) (int64, error) {
	blob, there := r.blobs[digest]
	if !there {
		return 0, registry.ErrNotFound
	}
	return blob.Size()
}

// Get reads a part of an image, no faster than the registry gives.
func (r *imageRegistry) Get(ctx context.Context, _ string, digest v1.Hash) (io.ReadCloser, error) {
	blob, there := r.blobs[digest]
	if !there {
		return nil, registry.ErrNotFound
	}
	content, err := blob.Compressed()
	if err != nil {
		return nil, fmt.Errorf("opening a part of an image: %w", err)
	}
	return &download{content, func(n int) error {
		r.sent.Add(int64(n))
		return r.line.WaitN(ctx, n)
	}}, nil
}

// download is a part of an image on its way. send waits until so many bytes may go.
type download struct {
	io.ReadCloser
	send func(int) error
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p[:min(len(p), registryBurst)])
	if failed := d.send(n); failed != nil {
		return n, failed
	}
	return n, err
}
