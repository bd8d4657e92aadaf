// Package prometheus runs a real Prometheus as a process and asks it questions. What is
// scraped and what is asked is for the tests that use it.
package prometheus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Server is a running Prometheus.
type Server struct {
	address string
	cmd     *exec.Cmd
	log     bytes.Buffer
	ended   chan error
}

// Start runs the prometheus of a folder in another, which holds prometheus.yaml, and
// waits until it answers.
func Start(ctx context.Context, bin, folder string) (*Server, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{address: address, ended: make(chan error, 1)}
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(bin, "prometheus"),
		"--config.file=prometheus.yaml", "--storage.tsdb.path=data", "--web.listen-address="+address)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = folder, &s.log, &s.log
	// What is scraped is on this machine, whatever proxy the environment names.
	s.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasSuffix(strings.ToUpper(strings.SplitN(v, "=", 2)[0]), "_PROXY")
	})
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("starting prometheus: %w", err)
	}
	if err := s.awaitReady(ctx); err != nil {
		_ = s.cmd.Process.Kill()
		return nil, err
	}
	return s, nil
}

// run starts the process and waits for its end meanwhile. The kernel ends it with the thread that started it, so that thread is
// kept: tests that throw theirs away would end it otherwise.
func (s *Server) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			s.ended <- s.cmd.Wait()
		}
	}()
	return <-started
}

func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String(), nil
}

func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := s.get(ctx, "/-/ready", nil); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case err := <-s.ended:
			return fmt.Errorf("prometheus ended with %w: %s", err, s.log.Bytes())
		case <-ctx.Done():
			return fmt.Errorf("prometheus does not become ready: %w", ctx.Err())
		}
	}
}

// Stop ends it.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping prometheus: %w", err)
	}
	if err := <-s.ended; err != nil {
		return fmt.Errorf("prometheus ended with %w: %s", err, s.log.Bytes())
	}
	return nil
}

// Point is a value at a time.
type Point struct {
	At    time.Time
	Value float64
}

// Series is the answer for one set of labels. An instant query has one point in each.
type Series struct {
	Labels map[string]string
	Points []Point
}

// Last is the newest value.
func (s Series) Last() float64 { return s.Points[len(s.Points)-1].Value }

// Query asks for the values of now.
func (s *Server) Query(ctx context.Context, expr string) ([]Series, error) {
	return s.ask(ctx, "/api/v1/query", url.Values{"query": {expr}})
}

// Range asks for the values of a span of time.
func (s *Server) Range(ctx context.Context, expr string, from, to time.Time, step time.Duration) ([]Series, error) {
	stamp := func(t time.Time) []string {
		return []string{strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64)}
	}
	return s.ask(ctx, "/api/v1/query_range", url.Values{
		"query": {expr}, "start": stamp(from), "end": stamp(to), "step": {strconv.FormatFloat(step.Seconds(), 'f', 3, 64)},
	})
}

func (s *Server) ask(ctx context.Context, path string, query url.Values) ([]Series, error) {
	body, err := s.get(ctx, path, query)
	if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", query.Get("query"), err)
	}
	var answer struct {
		Data struct {
			ResultType string
			Result     []struct {
				Metric map[string]string
				Value  *point
				Values []point
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("reading the answer for %s: %w", query.Get("query"), err)
	}
	all := make([]Series, 0, len(answer.Data.Result))
	for _, r := range answer.Data.Result {
		if r.Value != nil {
			r.Values = append(r.Values, *r.Value)
		}
		series := Series{Labels: r.Metric}
		for _, p := range r.Values {
			series.Points = append(series.Points, Point(p))
		}
		all = append(all, series)
	}
	return all, nil
}

// point is [time, "value"] in JSON.
type point Point

// UnmarshalJSON implements json.Unmarshaler.
func (p *point) UnmarshalJSON(raw []byte) error {
	var at float64
	var value string
	if err := json.Unmarshal(raw, &[]any{&at, &value}); err != nil {
		return fmt.Errorf("reading a point: %w", err)
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("reading a value: %w", err)
	}
	p.At, p.Value = time.UnixMilli(int64(at*1000)), v
	return nil
}

func (s *Server) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return nil, fmt.Errorf("calling prometheus: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("prometheus says %s: %s", response.Status, body.Bytes())
	}
	return body.Bytes(), nil
}
