// Package opening decides whether the start gate may open: whether the configuration and the
// consensus key are those that the operator believes in, and whether a permission that it
// left on the volume holds while it is not heard of. It moves no gate and starts nothing.
package opening

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

const (
	// defaultKeyWait is how long the gate in seid's container may take to tell its key:
	// that container starts after the sidecar's.
	defaultKeyWait = 10 * time.Second
	keyPoll        = 100 * time.Millisecond
)

// Conditions are those of one node.
type Conditions struct {
	Home string
	// ConfigHash names the configuration on disk.
	ConfigHash func() (string, error)
	// MayStart says why the seid of this pod must not start on it.
	MayStart func(context.Context) error
	// TemplateHash names the pod's template; empty: it is not known, and no permission
	// is given or used.
	TemplateHash string
	Clock        clock.Clock
	Log          *slog.Logger
	// KeyWait is how long to wait for the gate to tell its key; 0 means the default.
	KeyWait time.Duration

	// mu keeps a renewal from bringing back what was revoked meanwhile.
	mu sync.Mutex
}

// Check says what the gate is opened for. Without an expectation it opens for anything.
func (c *Conditions) Check(ctx context.Context, p wire.MarkReady) (api.Opening, error) {
	if p.Expect == nil {
		if p.Permission != "" {
			return api.Opening{}, api.InvalidField("permission", "needs expect: a permission is for one configuration and key")
		}
		return api.Opening{}, nil
	}
	var differences []string
	for _, check := range []func(context.Context, wire.Expectation) (string, error){c.checkConfig, c.checkKey} {
		difference, err := check(ctx, *p.Expect)
		if err != nil {
			return api.Opening{}, err
		}
		if difference != "" {
			differences = append(differences, difference)
		}
	}
	if len(differences) > 0 {
		return api.Opening{}, api.Terminal(api.CodePrecondition, errors.New(strings.Join(differences, "; ")))
	}
	return api.Opening{ConfigHash: p.Expect.ConfigHash, ConsensusAddress: strings.ToUpper(p.Expect.ConsensusAddress)}, nil
}

func (c *Conditions) checkConfig(ctx context.Context, e wire.Expectation) (difference string, err error) {
	hash, err := c.ConfigHash()
	if err != nil {
		return "", err
	}
	if hash != e.ConfigHash {
		return fmt.Sprintf("the configuration on disk is %s, expected %s", named(hash), e.ConfigHash), nil
	}
	if err := c.MayStart(ctx); err != nil {
		return err.Error(), nil //nolint:nilerr // why seid must not start is the difference
	}
	return "", nil
}

func named(hash string) string {
	if hash == "" {
		return "one without a name"
	}
	return hash
}

func (c *Conditions) checkKey(ctx context.Context, e wire.Expectation) (difference string, err error) {
	signer, err := supervision.SignerOf(c.Home)
	if err != nil {
		return "", err
	}
	switch {
	case e.ConsensusAddress == "" && !signer.Signs:
		return "", nil
	case e.ConsensusAddress == "":
		return "the configuration on disk signs blocks, expected one that does not", nil
	case !signer.Signs:
		return fmt.Sprintf("the configuration on disk does not sign blocks, expected a key that signs as %s", e.ConsensusAddress), nil
	}
	address, err := c.awaitKey(ctx)
	switch {
	case errors.Is(err, errNoGate):
		return "", api.Retryable(api.CodeUnavailable, err)
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil:
		return fmt.Sprintf("%s; expected a key that signs as %s", err, e.ConsensusAddress), nil
	case !strings.EqualFold(address, e.ConsensusAddress):
		return fmt.Sprintf("the key on the node signs as %s, expected %s", address, e.ConsensusAddress), nil
	}
	return "", nil
}

var errNoGate = errors.New("the gate in seid's container has not reported which consensus key it sees")

// awaitKey is the address of the key that seid would sign with. Only seid's container sees
// it, so it is the gate there that tells it.
func (c *Conditions) awaitKey(ctx context.Context) (string, error) {
	limit := c.KeyWait
	if limit == 0 {
		limit = defaultKeyWait
	}
	late := c.Clock.After(limit)
	for {
		address, known, err := supervision.SigningAddress(c.Home)
		if known || err != nil {
			return address, err
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-late:
			return "", errNoGate
		case <-c.Clock.After(keyPoll):
		}
	}
}

// Refusal says why the gate process does not start seid although the gate is open.
func (c *Conditions) Refusal() string {
	r, err := supervision.Read(c.Home)
	if err != nil {
		c.Log.Error("reading the record of the process", "error", err)
		return ""
	}
	return r.Refusal
}

// Answer is what the gate process is told when it asks whether seid may start and sign as
// address.
func Answer(g api.Gate, address string) api.GateAnswer {
	answer := api.GateAnswer{State: g.State}
	if g.State != api.GateOpen || g.Opened == nil || g.Opened.ConfigHash == "" {
		return answer // opened for anything, or not at all
	}
	opened := g.Opened.ConsensusAddress
	switch {
	case address == "" || strings.EqualFold(address, opened):
	case address == api.GateAddressUnknown:
		answer.Refusal = fmt.Sprintf("the consensus key cannot be read; the gate was opened for %s", orNone(opened))
	default:
		answer.Refusal = fmt.Sprintf("the key is for address %s; the gate was opened for %s", address, orNone(opened))
	}
	return answer
}

func orNone(address string) string {
	if address == "" {
		return "a node that does not sign"
	}
	return address
}
