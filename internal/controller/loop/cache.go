package loop

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/internal/statuspatch"
)

// restoredAfter is how long a cache may be behind our own last status write before the API server is
// asked whether that write is still there, and how long until it is asked again. Only a restored
// backup loses one, while a watch that is some seconds late is common on a busy cluster.
const restoredAfter = 10 * time.Second

// CacheCheck tells whether what a cache shows of an object is older than our own last status
// write. A cache that stays behind is right if the API server says the same: its storage was
// restored from a backup, and its versions count from there again.
type CacheCheck struct {
	Status *statuspatch.Writer
	// Live reads from the API server.
	Live  client.Reader
	Clock clock.PassiveClock

	behind Sightings
}

// Stale reports whether obj, as read from the cache, is behind our last status write. into is an
// empty object of its kind.
func (c *CacheCheck) Stale(ctx context.Context, obj, into client.Object) (bool, error) {
	key := client.ObjectKeyFromObject(obj)
	stale := c.Status.Stale(obj)
	if c.behind.Lasted(key, stale, c.Clock.Now()) < restoredAfter {
		return stale, nil
	}
	c.behind.Forget(key)
	if err := c.Live.Get(ctx, key, into); err != nil {
		if err = client.IgnoreNotFound(err); err != nil {
			err = fmt.Errorf("reading from the API server what the cache does not show: %w", err)
		}
		return true, err
	}
	return !c.Status.Lost(into), nil
}

// Forget drops what is known of an object that is gone.
func (c *CacheCheck) Forget(key types.NamespacedName) {
	c.behind.Forget(key)
	c.Status.Forget(key)
}
