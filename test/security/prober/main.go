// Command prober is a stranger in the pod network: it makes the attempts that it is told and prints what came of
// each. It trusts every certificate, as an attacker would.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/test/security"
)

const (
	patience = 10 * time.Second
	// tries is how often something is asked for until there is an answer. A sidecar on a busy machine closes a connection
	// whose request does not come soon enough.
	tries = 5
	// maxBody is more than any open path but the metrics has to say.
	maxBody = 64 << 10
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "prober:", err)
		os.Exit(1)
	}
}

func run() error {
	content, err := os.ReadFile(security.PlanFile)
	if err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	var attempts []security.Attempt
	if err := json.Unmarshal(content, &attempts); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	outcomes := make([]security.Outcome, len(attempts))
	for i, a := range attempts {
		for range tries {
			if outcomes[i] = try(a); a.URL == "" || outcomes[i].Status != 0 {
				break
			}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(outcomes); err != nil {
		return fmt.Errorf("telling the outcomes: %w", err)
	}
	return nil
}

func try(a security.Attempt) security.Outcome {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if a.URL == "" {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", a.Address)
		if err != nil {
			return security.Outcome{Error: err.Error()}
		}
		_ = conn.Close()
		return security.Outcome{Connected: true}
	}
	outcome, err := ask(ctx, a)
	if err != nil {
		outcome.Error = err.Error()
	}
	return outcome
}

// ask sends the path as it is written: net/http tidies up nothing.
func ask(ctx context.Context, a security.Attempt) (security.Outcome, error) {
	request, err := http.NewRequestWithContext(ctx, a.Method, a.URL, strings.NewReader(a.Body))
	if err != nil {
		return security.Outcome{}, fmt.Errorf("making the request: %w", err)
	}
	if a.TokenFile != "" {
		token, err := os.ReadFile(a.TokenFile)
		if err != nil {
			return security.Outcome{}, fmt.Errorf("reading a token: %w", err)
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	for name, value := range a.Header {
		request.Header.Set(name, value)
	}
	client := &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return security.Outcome{}, fmt.Errorf("sending the request: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	outcome := security.Outcome{Status: response.StatusCode, Body: string(body), Connected: true}
	if err != nil {
		return outcome, fmt.Errorf("reading the answer: %w", err)
	}
	return outcome, nil
}
