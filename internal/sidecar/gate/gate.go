// Package gate holds a command back until the sidecar beside it says go, and
// then becomes that command. It must work in an image without a shell.
package gate

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	pollEvery    = 500 * time.Millisecond
	probeTimeout = 2 * time.Second
)

// Gate is a closed gate.
type Gate struct {
	// HealthURL answers 200 when the gate is open.
	HealthURL string
	Log       *slog.Logger
}

// Pass waits until the gate is open and replaces this process by argv. It
// returns only when the command cannot be run or ctx ended first.
func (g Gate) Pass(ctx context.Context, argv []string) error {
	// A misspelt command is found out now, not when the gate opens in an hour.
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("looking for the command to run: %w", err)
	}
	if err := g.Wait(ctx); err != nil {
		return err
	}
	g.Log.Info("gate is open", "command", argv)
	// The command keeps our process id, so signals reach it without a detour.
	err = syscall.Exec(path, argv, os.Environ()) //nolint:gosec // running it is what a gate is for
	return fmt.Errorf("running %s: %w", path, err)
}

// Wait returns when the gate is open, or with an error when ctx ends first.
func (g Gate) Wait(ctx context.Context) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: probeTimeout}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var before string
	for {
		state := g.probe(ctx, client)
		if state == "" {
			return nil
		}
		if state != before && ctx.Err() == nil {
			g.Log.Info("waiting at the gate", "reason", state)
			before = state
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting at the gate: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// probe says why the gate is closed, or nothing when it is open.
func (g Gate) probe(ctx context.Context, client *http.Client) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.HealthURL, nil)
	if err != nil {
		return err.Error()
	}
	resp, err := client.Do(req)
	if err != nil {
		return "the sidecar does not answer: " + err.Error()
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "the sidecar answers " + resp.Status
	}
	return ""
}
