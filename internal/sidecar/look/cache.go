package look

import (
	"context"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"k8s.io/utils/clock"
)

// shared is an answer that is asked for once and given to all who want it within a time.
// Whoever asks while it is on its way waits for the same answer.
type shared[T any] struct {
	clock clock.PassiveClock
	// keep is how long an answer is good, bound how long asking may take, old how old an
	// answer may be to stand in for one on its way.
	keep, bound, old time.Duration

	mu     sync.Mutex
	last   answer[T]
	flight *flight[T]
}

// answer is what was asked for on behalf of a key.
type answer[T any] struct {
	key   string
	value T
	at    time.Time
}

type flight[T any] struct {
	answer[T]
	done chan struct{}
}

// get gives the answer for key, asking with fetch if there is no good one. When ctx ends
// first it gives the last answer for the key unless that is too old, or the zero value.
func (s *shared[T]) get(ctx context.Context, key string, fetch func(context.Context) T) T {
	s.mu.Lock()
	if s.last.key == key && !s.last.at.IsZero() && s.clock.Since(s.last.at) < s.keep {
		defer s.mu.Unlock()
		return s.last.value
	}
	f := s.flight
	if f == nil || f.key != key {
		f = &flight[T]{answer: answer[T]{key: key}, done: make(chan struct{})}
		s.flight = f
		go s.run(context.WithoutCancel(ctx), f, fetch)
	}
	s.mu.Unlock()
	select {
	case <-f.done:
		return f.value
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.key == key && !s.last.at.IsZero() && s.clock.Since(s.last.at) <= s.old {
		return s.last.value
	}
	var none T
	return none
}

func (s *shared[T]) run(ctx context.Context, f *flight[T], fetch func(context.Context) T) {
	ctx, cancel := context.WithTimeout(ctx, s.bound)
	defer cancel()
	f.value = fetch(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	f.at = s.clock.Now()
	if s.flight == f { // else a later key has taken over
		s.last, s.flight = f.answer, nil
	}
	close(f.done)
}

// background is a value that takes too long to find for a look. A look gets the last one.
type background[T any] struct {
	clock clock.PassiveClock
	// keep is how long a value is good, retry how soon a failure is tried again.
	keep, retry time.Duration

	mu      sync.Mutex
	last    answer[T]
	next    time.Time
	running bool
}

// get gives the last value for key, or the zero value, and has a new one found if that is
// due. The key comes from what the value is about, so that it is not given for another.
func (b *background[T]) get(key string, find func() (T, error)) T {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.running && (b.last.key != key || !b.clock.Now().Before(b.next)) {
		b.running = true
		go b.run(key, find)
	}
	if b.last.key != key {
		var none T
		return none
	}
	return b.last.value
}

func (b *background[T]) run(key string, find func() (T, error)) {
	value, err := find()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running = false
	b.next = b.clock.Now().Add(b.keep)
	if err != nil {
		b.next = b.clock.Now().Add(b.retry)
		if b.last.key == key {
			return // the old value is better than none
		}
	}
	b.last = answer[T]{key: key, value: value, at: b.clock.Now()}
}

// fingerprint changes when a file does. Files that are not there have one too.
type fingerprint struct {
	size  int64
	mtime time.Time
	inode uint64
}

func fingerprintOf(path string) fingerprint {
	info, err := os.Stat(path)
	if err != nil {
		return fingerprint{size: -1}
	}
	f := fingerprint{size: info.Size(), mtime: info.ModTime()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		f.inode = stat.Ino
	}
	return f
}

// parsed is what files say, read again only when one of them changes.
type parsed[T any] struct {
	mu     sync.Mutex
	known  bool
	paths  []string
	prints []fingerprint
	value  T
}

// get gives what read makes of the files.
func (p *parsed[T]) get(read func() T, paths ...string) T {
	prints := make([]fingerprint, 0, len(paths))
	for _, path := range paths {
		prints = append(prints, fingerprintOf(path))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known || !slices.Equal(p.paths, paths) || !slices.Equal(p.prints, prints) {
		p.value, p.paths, p.prints, p.known = read(), paths, prints, true
	}
	return p.value
}
