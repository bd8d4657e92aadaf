package peers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Times of a Cache unless told otherwise.
const (
	// DefaultTTL is how long an answer holds.
	DefaultTTL = 5 * time.Minute
	// DefaultRetry is how long a failure holds, so that many nodes with the same
	// source do not all ask a service that is down.
	DefaultRetry = 30 * time.Second
	// DefaultPatience is how long one caller waits for an answer.
	DefaultPatience = 2 * time.Second
	// DefaultDeadline is how long one question may take in the background.
	DefaultDeadline = 30 * time.Second
)

// errStillAsking: the answer is on its way.
var errStillAsking = errors.New("EC2 has not answered yet; still waiting")

// Cache keeps a slow source of Instances away from reconciles: every question is
// asked in the background by one asker at a time, and callers wait for it only
// for a moment. Zero times mean the defaults.
type Cache struct {
	// Source is asked. It should respect its context.
	Source Instances
	// Now is the clock; nil means time.Now.
	Now                            func() time.Time
	TTL, Retry, Patience, Deadline time.Duration

	mu      sync.Mutex
	entries map[string]*entry
}

// entry is what is known of one question.
type entry struct {
	instances []Instance // the last good answer; nil if there is none
	err       error      // why the last try failed
	due       time.Time  // when to ask again
	asking    chan struct{}
}

// Find implements Instances.
func (c *Cache) Find(ctx context.Context, region string, tags map[string]string) ([]Instance, error) {
	c.mu.Lock()
	e := c.entry(region, tags)
	if e.asking == nil {
		if c.now().Before(e.due) {
			defer c.mu.Unlock()
			return slices.Clone(e.instances), e.err
		}
		e.asking = make(chan struct{})
		go c.ask(context.WithoutCancel(ctx), e, region, maps.Clone(tags))
	}
	asking := e.asking
	c.mu.Unlock()

	patience := time.NewTimer(or(c.Patience, DefaultPatience))
	defer patience.Stop()
	waited := errStillAsking
	select {
	case <-asking:
		waited = nil
	case <-patience.C:
	case <-ctx.Done():
		waited = fmt.Errorf("waiting for EC2: %w", ctx.Err())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if waited == nil {
		return slices.Clone(e.instances), e.err
	}
	return slices.Clone(e.instances), waited
}

func (c *Cache) ask(ctx context.Context, e *entry, region string, tags map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, or(c.Deadline, DefaultDeadline))
	defer cancel()
	instances, err := c.Source.Find(ctx, region, tags)

	c.mu.Lock()
	defer c.mu.Unlock()
	e.err = err
	if err == nil {
		e.instances = append([]Instance{}, instances...) // no instances are an answer too, so never nil
		e.due = c.now().Add(or(c.TTL, DefaultTTL))
	} else {
		e.due = c.now().Add(or(c.Retry, DefaultRetry))
	}
	close(e.asking)
	e.asking = nil
}

func (c *Cache) entry(region string, tags map[string]string) *entry {
	var key strings.Builder
	fmt.Fprintf(&key, "%q", region)
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		fmt.Fprintf(&key, " %q=%q", name, tags[name])
	}
	if c.entries == nil {
		c.entries = map[string]*entry{}
	}
	e, ok := c.entries[key.String()]
	if !ok {
		e = &entry{}
		c.entries[key.String()] = e
	}
	return e
}

func (c *Cache) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

func or(value, fallback time.Duration) time.Duration {
	if value == 0 {
		return fallback
	}
	return value
}
