package server

import (
	"encoding/json"
	"net/http"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// retryAfter is the number of seconds after which a failed store may be tried
// again.
const retryAfter = "1"

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		return // the caller is gone; there is nobody left to tell
	}
}

func respondError(w http.ResponseWriter, status int, message string, detail *api.ErrorDetail) {
	respond(w, status, api.ErrorBody{Error: message, ErrorDetail: detail})
}

// refuse answers with the status that belongs to the error's code.
func refuse(w http.ResponseWriter, err error) {
	detail := api.DetailOf(err)
	status := statusOf(detail.Code)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	respondError(w, status, err.Error(), &detail)
}

func statusOf(code string) int {
	switch code {
	case api.CodeInvalidParams:
		return http.StatusBadRequest
	case api.CodeNotFound:
		return http.StatusNotFound
	case api.CodeConflict:
		return http.StatusConflict
	case api.CodeStoreFailed, api.CodeUnavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}
