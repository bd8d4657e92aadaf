package server

import (
	"net/http"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Route is a kind of request that the API answers.
type Route struct {
	Method string
	// Path is a pattern of net/http.
	Path string
	// Public routes are open to everybody, the others to known callers alone.
	Public bool
}

// Routes lists all of them. What a stranger gets is tested for each (test/security).
func Routes() []Route {
	list := make([]Route, len(routes))
	for i, r := range routes {
		list[i] = Route{Method: r.method, Path: r.path, Public: api.IsPublic(r.path)}
	}
	return list
}

type route struct {
	method, path string
	answer       func(*server, http.ResponseWriter, *http.Request)
}

var routes = []route{
	{http.MethodGet, api.PathHealth, (*server).healthz},
	{http.MethodGet, api.PathStartup, (*server).healthz},
	{http.MethodGet, api.PathLive, (*server).livez},
	{http.MethodGet, api.PathGate, (*server).gate},
	{http.MethodGet, api.PathInSync, (*server).inSync},
	{http.MethodGet, api.PathMetrics, (*server).serveMetrics},
	{http.MethodGet, "/v0/status", (*server).status},
	{http.MethodGet, "/v0/version", (*server).version},
	{http.MethodGet, "/v0/node-id", (*server).nodeID},
	{http.MethodGet, api.PathNode, (*server).node},
	{http.MethodPost, "/v0/tasks", (*server).submit},
	{http.MethodGet, "/v0/tasks", (*server).list},
	{http.MethodGet, "/v0/tasks/{id}", (*server).get},
	{http.MethodDelete, "/v0/tasks/{id}", (*server).delete},
}

// muxes are the handlers of the public routes and of the others.
func (s *server) muxes() (public, private *http.ServeMux) {
	public, private = http.NewServeMux(), http.NewServeMux()
	for _, r := range routes {
		mux := private
		if api.IsPublic(r.path) {
			mux = public
		}
		if r.path == api.PathNode && s.Node == nil {
			continue
		}
		mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) { r.answer(s, w, req) })
	}
	return public, private
}
