package tokens

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// atOnce is how many tokens are asked for at the same time: an operator that starts with
	// hundreds of nodes needs one for each.
	atOnce = 8
	// mintTimeout bounds one request for a token.
	mintTimeout = 10 * time.Second
	// renewedFrom and renewedUntil are the parts of its life after which a token is replaced. Where
	// in between is chance, so that tokens which were made together are not renewed together.
	renewedFrom, renewedUntil = 0.6, 0.9
	// usedUntil is the part of its life after which a token is not used any more: clocks differ.
	usedUntil = 0.95
	// refusedAfter is the age from which on a token that a sidecar refuses is replaced. A sidecar
	// that refuses all of them costs a request now and then.
	refusedAfter = 5 * time.Minute
)

// Mint asks for a token of an audience and says for how long it is valid.
type Mint func(ctx context.Context, audience string) (token string, valid time.Duration, err error)

// Cache keeps a token per audience. It is safe for concurrent use.
type Cache struct {
	mint   Mint
	clock  clock.PassiveClock
	chance func() float64
	slots  chan struct{}

	mu   sync.Mutex
	all  map[string]*entry
	hold hold
}

// entry is the token of one audience, or the wait for it.
type entry struct {
	token                string
	made, renew, expires time.Time
	// pending is closed when the request under way has ended; nil when there is none.
	pending chan struct{}
	// err is how the last request failed; nil when it did not.
	err error
}

// NewCache makes a Cache over a way to get tokens.
func NewCache(mint Mint, c clock.PassiveClock) *Cache {
	return &Cache{
		mint: mint, clock: c, chance: rand.Float64, slots: make(chan struct{}, atOnce), all: map[string]*entry{},
	}
}

// Token gives a token of an audience. It waits only when there is none that is still valid.
func (c *Cache) Token(ctx context.Context, audience string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.begin(audience)
	if pending := e.pending; pending != nil && !c.usable(e) {
		c.mu.Unlock()
		var gaveUp error
		select {
		case <-pending:
		case <-ctx.Done():
			gaveUp = fmt.Errorf("waiting for a token: %w", context.Cause(ctx))
		}
		c.mu.Lock()
		if gaveUp != nil {
			return "", gaveUp
		}
	}
	if c.usable(e) {
		return e.token, nil
	}
	return "", cmp.Or(e.err, c.hold.err)
}

// begin is the entry of an audience, for which a token is asked for where that is due. The caller
// has the lock.
func (c *Cache) begin(audience string) *entry {
	e := c.all[audience]
	if e == nil {
		e = &entry{}
		c.all[audience] = e
	}
	now := c.clock.Now()
	if e.pending == nil && !now.Before(e.renew) && !c.hold.lasts(now) {
		e.pending = make(chan struct{})
		go c.renew(audience, e)
	}
	return e
}

func (c *Cache) usable(e *entry) bool { return e.token != "" && c.clock.Now().Before(e.expires) }

// renew asks for a token, whether or not somebody still waits for it.
func (c *Cache) renew(audience string, e *entry) {
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	token, made, valid, err := c.ask(audience)
	c.mu.Lock()
	defer c.mu.Unlock()
	close(e.pending)
	e.pending, e.err = nil, err
	if err != nil {
		c.hold.failed(c.clock.Now(), err, c.chance())
		return
	}
	part := renewedFrom + (renewedUntil-renewedFrom)*c.chance()
	*e = entry{token: token, made: made, renew: made.Add(scaled(valid, part)), expires: made.Add(scaled(valid, usedUntil))}
	c.hold = hold{}
	c.sweep()
}

// ask makes the request, unless another has just failed. The life of a token is counted from before
// the request on, by our own clock.
func (c *Cache) ask(audience string) (token string, made time.Time, valid time.Duration, err error) {
	c.mu.Lock()
	made = c.clock.Now()
	held, why := c.hold.lasts(made), c.hold.err
	c.mu.Unlock()
	if held {
		return "", made, 0, why
	}
	ctx, cancel := context.WithTimeout(context.Background(), mintTimeout)
	defer cancel()
	token, valid, err = c.mint(ctx, audience)
	if err == nil && (token == "" || valid <= 0) {
		err = errors.New("the API server gave a token that is not valid")
	}
	return token, made, valid, err
}

// Refused has a token replaced that is not accepted, because the cluster has another signing key or
// a clock is wrong. One that is new is kept: another would be refused too.
func (c *Cache) Refused(audience, token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, now := c.all[audience], c.clock.Now()
	if e == nil || e.token != token || now.Sub(e.made) < refusedAfter {
		return
	}
	e.token, e.renew = "", now
}

// sweep forgets the tokens of nodes that are gone. The caller has the lock.
func (c *Cache) sweep() {
	for audience, e := range c.all {
		if e.pending == nil && !c.usable(e) {
			delete(c.all, audience)
		}
	}
}

func scaled(d time.Duration, part float64) time.Duration { return time.Duration(float64(d) * part) }
