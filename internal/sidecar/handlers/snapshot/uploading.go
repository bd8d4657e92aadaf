package snapshot

import (
	"context"
	"errors"
	"sync"
	"time"
)

// uploading lets one upload run at a time. Unlike a group of the engine it keeps nobody else
// waiting: whoever needs the node's data gone ends the upload.
type uploading struct {
	once  sync.Once
	token chan struct{}

	mu  sync.Mutex
	end context.CancelCauseFunc
}

// begin waits until no other upload runs. The context it gives is that of the upload.
func (u *uploading) begin(ctx context.Context, timeout time.Duration) (context.Context, func(), error) {
	u.once.Do(func() { u.token = make(chan struct{}, 1) })
	select {
	case u.token <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	ctx, end := context.WithCancelCause(ctx)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.end = end
	return ctx, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		cancel()
		end(nil)
		u.end = nil
		<-u.token
	}, nil
}

// whyEnded is why an upload failed: what ended it says more than what its end has caused.
func whyEnded(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return err
}

// abandon ends the upload that runs, if any, and does not wait for it.
func (u *uploading) abandon(cause error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.end != nil {
		u.end(cause)
	}
}

// note writes down what an upload has come to, unless it was abandoned: what is forgotten
// then must not be written again.
func (u *uploading) note(ctx context.Context, write func() error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return write()
}
