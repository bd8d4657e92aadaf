package look

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/seid/upgrade"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// fakeSeid is a seid: its RPC, its process and its home.
type fakeSeid struct {
	t     *testing.T
	home  string
	clock *clocktesting.FakeClock
	rpc   *http.ServeMux
	calls map[string]*atomic.Int64

	mu     sync.Mutex
	state  api.Seid
	height int64
	lag    int64
	peers  int
	block  time.Time
	plan   string // hex
	// applied are the upgrades that are applied, in no order.
	applied []upgrade.Applied
	// queries counts the questions to the application by their path.
	queries map[string]int
	// threshold is the lag above which the node calls itself behind.
	threshold int64
	open      map[int]bool
	// blocks answers for a block, commits for a signed header; nil: the node has none to report.
	blocks, commits func(height int64) string
	// stores are what the application's stores hold, by path and key in hex; others are empty.
	stores map[string]string
	// held keeps answers back until it is closed.
	held chan struct{}
	// silent: connections are taken and never answered.
	silent bool
}

const genesis = `{"chain_id":"x"}`

func newSeid(t *testing.T) *fakeSeid {
	t.Helper()
	s := &fakeSeid{
		t: t, home: t.TempDir(), clock: clocktesting.NewFakeClock(now), calls: map[string]*atomic.Int64{},
		state: api.Seid{State: api.SeidRunning, Starts: 1, Since: new(now)}, height: 10, peers: 2, block: now, threshold: 300,
		open: map[int]bool{26656: true, 26657: true}, queries: map[string]int{},
	}
	mux := http.NewServeMux()
	for path, answer := range map[string]func() string{
		"GET /status": func() string {
			return fmt.Sprintf(`{"node_info":{"id":"aa"},"sync_info":{"latest_block_height":"%d","latest_block_time":%q,"max_peer_block_height":"%d"}}`,
				s.height, s.block.Format(time.RFC3339), s.height+s.lag)
		},
		"GET /lag_status": func() string { return fmt.Sprintf(`{"current_height":"%d","lag":"%d"}`, s.height, s.lag) },
		"GET /net_info": func() string {
			connection := map[string]string{"node_id": "bb", "state": "ready,connected"}
			list := make([]map[string]string, 0, s.peers)
			for range s.peers {
				list = append(list, connection)
			}
			raw, err := json.Marshal(map[string]any{"peer_connections": list})
			if err != nil {
				t.Error(err)
			}
			return string(raw)
		},
	} {
		count := &atomic.Int64{}
		s.calls[path] = count
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			count.Add(1)
			s.mu.Lock()
			held := s.held
			s.mu.Unlock()
			if held != nil {
				select {
				case <-held:
				case <-r.Context().Done():
					return
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if path == "GET /lag_status" && s.lag > s.threshold {
				w.WriteHeader(http.StatusExpectationFailed)
			}
			_, _ = w.Write([]byte(answer()))
		})
	}
	byHeight := func(answer *func(int64) string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			height, err := strconv.ParseInt(r.URL.Query().Get("height"), 10, 64)
			if err != nil || *answer == nil {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			_, _ = w.Write([]byte((*answer)(height)))
		}
	}
	mux.HandleFunc("GET /block", byHeight(&s.blocks))
	mux.HandleFunc("GET /commit", byHeight(&s.commits))
	s.calls["POST /"] = &atomic.Int64{}
	mux.HandleFunc("POST /", s.query)
	s.rpc = mux
	s.write("config/genesis.json", genesis)
	s.write("config/config.toml", "mode = \"full\"\n[rpc]\nladdr = \"tcp://0.0.0.0:26657\"\n[p2p]\nladdr = \"tcp://0.0.0.0:26656\"\n")
	return s
}

// RoundTrip implements http.RoundTripper for the RPC. It is no socket, so that tests can run in a
// bubble of synctest.
func (s *fakeSeid) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	silent := s.silent
	s.mu.Unlock()
	if silent {
		<-r.Context().Done()
	}
	w := httptest.NewRecorder()
	if r.Context().Err() == nil {
		s.rpc.ServeHTTP(w, r)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// query answers a question to the application.
func (s *fakeSeid) query(w http.ResponseWriter, r *http.Request) {
	s.calls["POST /"].Add(1)
	var call struct {
		Params struct{ Path, Data string } `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		s.t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries[call.Params.Path]++
	var answer string
	switch call.Params.Path {
	case upgrade.CurrentPlanPath:
		answer = s.plan
	case upgrade.AppliedPath:
		answer = hex.EncodeToString(encodeApplied(s.applied))
	default:
		answer = s.stores[call.Params.Path+" "+call.Params.Data]
	}
	raw, err := hex.DecodeString(answer)
	if err != nil {
		s.t.Error(err)
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"response":{"code":0,"height":"1","value":%q}}}`, base64.StdEncoding.EncodeToString(raw))
}

// encodeApplied is the answer of a node's store of upgrades.
func encodeApplied(all []upgrade.Applied) []byte {
	var pairs []byte
	for _, a := range all {
		pair := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), append([]byte{1}, a.Name...))
		pair = protowire.AppendBytes(protowire.AppendTag(pair, 2, protowire.BytesType), binary.BigEndian.AppendUint64(nil, uint64(a.Height)))
		pairs = protowire.AppendBytes(protowire.AppendTag(pairs, 1, protowire.BytesType), pair)
	}
	return pairs
}

func (s *fakeSeid) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *fakeSeid) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *fakeSeid) look(change ...func(*Config)) *Look {
	cfg := Config{
		Home: s.home, Clock: s.clock, Log: slog.New(slog.DiscardHandler),
		RPC: func() *rpc.Client { return rpc.New("http://seid", rpc.WithHTTPClient(&http.Client{Transport: s})) },
		Seid: func() api.Seid {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.state
		},
		Gate: func() api.Gate { return api.Gate{State: api.GateOpen} },
		Listeners: func() (map[int]bool, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.open, nil
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	l := New(cfg)
	l.bound, l.wait, l.answers.bound, l.plan.bound = time.Hour, time.Hour, time.Hour, time.Hour
	return l
}

// hasty looks with the bounds of the product.
func (s *fakeSeid) hasty() *Look {
	l := s.look()
	l.bound, l.wait, l.answers.bound, l.plan.bound = Bound, askWait, askBound, askBound
	return l
}
