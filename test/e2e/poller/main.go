// Command poller is a client of a node's RPC as applications are: it asks a Service for the chain's status ten times a
// second, over a new connection each time and over one that is kept, and counts what fails. Its counts are served on
// port 8080; every failure is a line of its log.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

const (
	every = 100 * time.Millisecond
	// patience is how long one request may take. Busy is not away.
	patience = 30 * time.Second
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: poller URL")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fresh, kept := newTally(true), newTally(false)
	go poll(ctx, args[0], fresh)
	go poll(ctx, args[0], kept)
	server := &http.Server{Addr: ":8080", ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := json.NewEncoder(w).Encode(map[string]counts{"fresh": fresh.read(), "kept": kept.read()}); err != nil {
			fmt.Println("answering with the counts:", err)
		}
	})}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// counts is what a client has met so far.
type counts struct {
	Requests int `json:"requests"`
	Failed   int `json:"failed"`
	// Slowest is the longest time to an answer, in milliseconds.
	Slowest int64 `json:"slowest"`
}

// tally is one client and its counts.
type tally struct {
	client http.Client
	mu     sync.Mutex
	counts counts
}

func newTally(fresh bool) *tally {
	return &tally{client: http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: fresh}}}
}

func (t *tally) read() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}

// poll asks on time whether or not the last answer is there yet.
func poll(ctx context.Context, url string, t *tally) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			go t.ask(ctx, url)
		}
	}
}

func (t *tally) ask(ctx context.Context, url string) {
	began := time.Now()
	height, err := status(ctx, &t.client, url)
	if ctx.Err() != nil {
		return // it is the poller that ends
	}
	took := time.Since(began)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.Requests++
	t.counts.Slowest = max(t.counts.Slowest, took.Milliseconds())
	if err != nil {
		t.counts.Failed++
		fmt.Printf("%s after %s: %v\n", began.UTC().Format(time.RFC3339Nano), took.Round(time.Millisecond), err)
	} else if t.counts.Requests == 1 {
		fmt.Printf("%s the first answer: height %s\n", began.UTC().Format(time.RFC3339Nano), height)
	}
}

// status is the height in a node's answer. A node that answers without one is of no use to a client.
func status(ctx context.Context, client *http.Client, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("making the request: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("sending the request: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	var answer struct {
		SyncInfo struct {
			Height string `json:"latest_block_height"`
		} `json:"sync_info"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s with an answer that is no status: %.200s", response.Status, body)
	}
	if height := answer.SyncInfo.Height; height != "" && height != "0" {
		return height, nil
	}
	return "", fmt.Errorf("a node without a block answered: %.200s", body)
}
