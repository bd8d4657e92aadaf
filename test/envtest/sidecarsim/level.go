package sidecarsim

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// since is the level from which on a parameter is known.
var since = map[api.TaskType]map[string]int{
	api.AssembleAndUploadGenesis: {"expectedGenesisHash": api.LevelGenesis},
	api.ConfigApply:              {"configHash": api.LevelNode},
	api.SetResultExport:          {"export": api.LevelResultExport, "hash": api.LevelResultExport},
	api.MarkReady:                {"expect": api.LevelNode, "permission": api.LevelNode},
	api.PublishSnapshots:         {"keep": api.LevelPublish},
	api.RestartSeid:              {"farewell": api.LevelDrain, "configHash": api.LevelNode},
}

// atLevel is the API as a sidecar of the node's level serves it.
func (p *process) atLevel(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.all.model.mu.Lock()
		level := p.all.model.levelOf(p.node)
		p.all.model.mu.Unlock()
		switch {
		case level >= api.Level:
			next.ServeHTTP(w, r)
		case r.URL.Path == api.PathNode && level < api.LevelNode:
			r.URL.Path = "/v0/unknown" // after the same checks of the caller
			next.ServeHTTP(w, r)
		case r.URL.Path == "/v0/version":
			versionOfLevel(w, r, next, level)
		default:
			if field := laterParameter(r, level); field != "" {
				refuseField(w, field)
				return
			}
			next.ServeHTTP(w, r)
		}
	})
}

// laterParameter is a parameter of a submission that came after a level.
func laterParameter(r *http.Request, level int) string {
	if r.Method != http.MethodPost || r.URL.Path != "/v0/tasks" {
		return ""
	}
	task := peekTask(r)
	var params map[string]json.RawMessage
	if len(task.Params) == 0 || json.Unmarshal(task.Params, &params) != nil {
		return ""
	}
	var later []string
	for field := range params {
		if since[task.Type][field] > level {
			later = append(later, field)
		}
	}
	if len(later) == 0 {
		return ""
	}
	return slices.Min(later)
}

func refuseField(w http.ResponseWriter, field string) {
	err := api.InvalidField(field, "is not a parameter of this task")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(api.ErrorBody{Error: err.Error(), ErrorDetail: &err.Detail}) //nolint:errchkjson // the caller is gone then
}

func versionOfLevel(w http.ResponseWriter, r *http.Request, next http.Handler, level int) {
	answer := &discard{header: http.Header{}, status: http.StatusOK}
	next.ServeHTTP(answer, r)
	var version api.Version
	if answer.status == http.StatusOK && json.Unmarshal(answer.body.Bytes(), &version) == nil {
		version.APILevel = level
		answer.body = bytes.Buffer{}
		_ = json.NewEncoder(&answer.body).Encode(version) //nolint:errchkjson // a struct of plain fields always encodes
	}
	maps.Copy(w.Header(), answer.header)
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body.Bytes())
}
