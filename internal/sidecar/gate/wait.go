package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// verdict is why seid may not start; the zero value lets it through.
type verdict struct {
	// waiting: the gate is closed. refusal: it is open, and seid must not start.
	waiting, refusal string
}

// wait returns when seid may start, or with an error when ctx ends first.
func (g Gate) wait(ctx context.Context, j *journal) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: probeTimeout}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var before verdict
	for {
		if g.WhileWaiting != nil {
			g.WhileWaiting(ctx)
		}
		now := g.look(ctx, client, j)
		if now == (verdict{}) {
			return nil
		}
		if now != before && ctx.Err() == nil {
			g.Log.Info("waiting at the gate", "reason", now.waiting+now.refusal)
			before = now
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting at the gate: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// look asks all who have a say. What they say is recorded for the sidecar to tell.
func (g Gate) look(ctx context.Context, client *http.Client, j *journal) verdict {
	next := j.record
	next.Key = supervision.Key{}
	signs, problem := "", ""
	if j.Home != "" {
		signs, next.Key, problem = signing(j.Home)
	}
	// The key is told before the answer is asked for: opening waits for it.
	j.update(next)
	v := g.ask(ctx, client, signs)
	if v == (verdict{}) {
		v = g.prepare(ctx, j, basis{signs: signs, key: next.Key}, problem)
	}
	j.update(judged(next, v))
	if v != (verdict{}) || j.Home == "" {
		return v
	}
	// Its record says by now that seid is about to be started. Whoever has closed the gate since it was
	// asked, and whoever closes it from now on, finds that or is heard here.
	v = g.ask(ctx, client, signs)
	j.update(judged(next, v))
	return v
}

// prepare does what takes time once the sidecar lets seid through, and keeps what it goes by: the key
// that the sidecar was asked about, and what is on disk before any of it.
func (g Gate) prepare(ctx context.Context, j *journal, asked basis, problem string) verdict {
	if problem != "" {
		return verdict{refusal: problem}
	}
	if j.Home != "" {
		var err error
		if asked.config, err = digestOf(j.Home); err != nil {
			return verdict{refusal: err.Error()}
		}
	}
	j.agreed = asked
	if g.Rules.MayStart != nil {
		if err := g.Rules.MayStart(ctx); err != nil {
			return verdict{refusal: err.Error()}
		}
	}
	j.environment = nil
	if g.Rules.Environment != nil {
		j.environment = g.Rules.Environment(ctx)
	}
	return verdict{}
}

// judged is a record with a verdict.
func judged(r supervision.Record, v verdict) supervision.Record {
	r.Waiting, r.Refusal, r.Starting = v.waiting, v.refusal, v == (verdict{})
	return r
}

func (j *journal) update(next supervision.Record) {
	if next == j.record {
		return
	}
	j.record = next
	j.save()
}

// signing is the address that seid would sign with, as the sidecar wants to be told, and
// the key as it is. problem is a configuration that cannot be read.
func signing(home string) (address string, key supervision.Key, problem string) {
	signer, err := supervision.SignerOf(home)
	if err != nil {
		return "", supervision.Key{}, err.Error()
	}
	key = supervision.ReadKey(signer.KeyFile)
	address, err = signer.SigningAddress(key)
	if err != nil {
		address = api.GateAddressUnknown
	}
	return address, key, ""
}

// ask asks the sidecar.
func (g Gate) ask(ctx context.Context, client *http.Client, signs string) verdict {
	query := url.Values{api.GateAddressParam: {signs}}
	status, body, err := get(ctx, client, g.Sidecar+api.PathGate+"?"+query.Encode())
	if err != nil {
		return verdict{waiting: "the sidecar does not answer: " + err.Error()}
	}
	switch status {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden:
		return g.askOlder(ctx, client)
	default:
		return verdict{waiting: fmt.Sprintf("the sidecar answers %d", status)}
	}
	var answer api.GateAnswer
	if err := json.Unmarshal(body, &answer); err != nil {
		return verdict{waiting: "the sidecar's answer is not understood: " + err.Error()}
	}
	if answer.State != api.GateOpen {
		return verdict{waiting: "the gate is " + string(answer.State)}
	}
	return verdict{refusal: answer.Refusal}
}

// askOlder asks a sidecar that knows no more than whether the gate is open.
func (g Gate) askOlder(ctx context.Context, client *http.Client) verdict {
	status, _, err := get(ctx, client, g.Sidecar+"/v0/healthz")
	if err != nil {
		return verdict{waiting: "the sidecar does not answer: " + err.Error()}
	}
	if status != http.StatusOK {
		return verdict{waiting: fmt.Sprintf("the sidecar answers %d", status)}
	}
	return verdict{}
}

// maxAnswer is more than any answer needs.
const maxAnswer = 16 << 10

func get(ctx context.Context, client *http.Client, address string) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, nil, fmt.Errorf("asking the sidecar: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return 0, nil, fmt.Errorf("reading the sidecar's answer: %w", err)
	}
	return resp.StatusCode, body, nil
}
