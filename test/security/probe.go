package security

// Attempt is one thing that the prober tries: a request, or no more than a connection if it has no URL.
type Attempt struct {
	// Address is host:port, for a connection.
	Address string `json:"address,omitempty"`

	Method string            `json:"method,omitempty"`
	URL    string            `json:"url,omitempty"`
	Body   string            `json:"body,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	// TokenFile is a file of the prober's pod whose content is shown as a bearer token; empty means none.
	TokenFile string `json:"tokenFile,omitempty"`
}

// Outcome is what came of an attempt. It never holds a token.
type Outcome struct {
	// Status is that of the answer; 0 without one.
	Status int    `json:"status"`
	Body   string `json:"body,omitempty"`
	// Connected says that somebody listens.
	Connected bool   `json:"connected"`
	Error     string `json:"error,omitempty"`
}

// PlanFile is where the prober finds its attempts, as a JSON array. It prints their outcomes as another.
const PlanFile = "/plan/plan.json"
