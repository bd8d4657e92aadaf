package envtest

import "net/http"

// Rewind has caches that are filled from now on show the cluster as it was at a version, until Forward:
// they were filled by an API server that is behind. What happened since is held back. Reads that are
// not for a cache are not affected, nor are caches that are full.
func (w *Watches) Rewind(version string) {
	for _, resource := range w.Watched() {
		w.Hold(resource)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version = version
}

// Forward delivers what happened since the version that caches were filled with.
func (w *Watches) Forward() {
	w.mu.Lock()
	w.version = ""
	held := make([]string, 0, len(w.held))
	for resource := range w.held {
		held = append(held, resource)
	}
	w.mu.Unlock()
	for _, resource := range held {
		w.Release(resource)
	}
}

func (w *Watches) past() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version
}

// rewound asks for the past in the place of a list that any version will do for, which is how a
// reflector begins.
func (w *Watches) rewound(req *http.Request) *http.Request {
	version, query := w.past(), req.URL.Query()
	if version == "" || query.Get("resourceVersion") != "0" {
		return req
	}
	query.Set("resourceVersion", version)
	query.Set("resourceVersionMatch", "Exact")
	past := req.Clone(req.Context())
	past.URL.RawQuery = query.Encode()
	return past
}
