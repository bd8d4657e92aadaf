package snapshot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

const (
	maxManifest = 64 << 10
	// defaultTrustPeriod is seid's.
	defaultTrustPeriod = 168 * time.Hour
	// trustMargin is how long the snapshot's block has to stay trusted after the
	// download: seid verifies it when it starts.
	trustMargin = time.Hour
)

// choice is a snapshot in a bucket.
type choice struct {
	height   int64
	object   objectstore.Object
	manifest *objectstore.Manifest
}

// choose finds the newest complete snapshot at or below the target.
func (t *Tasks) choose(ctx context.Context, bucket *objectstore.Bucket, p wire.SnapshotRestore) (choice, error) {
	there, err := t.shelf(ctx, bucket)
	if p.RequireVerified {
		there.archives = slices.DeleteFunc(there.archives, func(a stored) bool { return !a.manifest })
	}
	found := there.newest(p.TargetHeight)
	best := choice{height: found.height, object: found.object}
	where := bucket.Address(t.prefix())
	switch {
	case err != nil:
		return best, err
	case len(there.archives) == 0 && p.RequireVerified:
		return best, api.Retryable(api.CodeNotFound, fmt.Errorf("no snapshots with a manifest found in %s", where))
	case len(there.archives) == 0:
		return best, api.Retryable(api.CodeNotFound, fmt.Errorf("no snapshots found in %s", where))
	case there.newest(0).height == 0:
		return best, api.Retryable(api.CodeNotFound, fmt.Errorf("no complete snapshot found in %s: their manifests are missing", where))
	case best.height == 0:
		return best, api.Retryable(api.CodeNotFound, fmt.Errorf("no snapshot found at or below height %d in %s", p.TargetHeight, where))
	}
	best.manifest, err = readManifest(ctx, bucket, best.object.Key)
	if err != nil {
		return best, err
	}
	if best.manifest == nil && p.RequireVerified {
		return best, api.Retryable(api.CodeNotFound, fmt.Errorf("the manifest of %s is gone", best.object.Key))
	}
	return best, t.fits(best)
}

// fits refuses a manifest that is of something else.
func (t *Tasks) fits(c choice) error {
	m := c.manifest
	switch {
	case m == nil:
		return nil
	case m.ChainID != "" && m.ChainID != t.Node.ChainID:
		return api.Terminal(api.CodeIntegrity, fmt.Errorf("%s is of chain %q by its manifest, this node is on %q", c.object.Key, m.ChainID, t.Node.ChainID))
	case m.Height != 0 && m.Height != c.height:
		return api.Terminal(api.CodeIntegrity, fmt.Errorf("%s is of height %d by its manifest", c.object.Key, m.Height))
	case m.Size != c.object.Size:
		return api.Terminal(api.CodeIntegrity, fmt.Errorf("%s has %d bytes, its manifest says %d", c.object.Key, c.object.Size, m.Size)).
			WithHint("the archive was changed or cut after it was uploaded")
	}
	return nil
}

func readManifest(ctx context.Context, bucket *objectstore.Bucket, key string) (*objectstore.Manifest, error) {
	data, err := bucket.ReadAll(ctx, key+objectstore.ManifestSuffix, maxManifest)
	if objectstore.KindOf(err) == objectstore.KindNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := objectstore.ParseManifest(data)
	if err != nil {
		return nil, api.Terminal(api.CodeIntegrity, fmt.Errorf("%s: %w", key, err))
	}
	return &m, nil
}

// checkAge refuses a snapshot whose block seid would not trust any more, before hours are
// spent on fetching it. Without a block time the time of the upload is what the block is
// at least old. A caller that names no trust period may name one later, so it is warned.
func (t *Tasks) checkAge(c choice, trustPeriod string) (warnings []string, err error) {
	made, atLeast := c.object.ModTime, "at least "
	if c.manifest != nil && !c.manifest.CreatedAt.IsZero() && c.manifest.CreatedAt.Before(made) {
		made = c.manifest.CreatedAt
	}
	if c.manifest != nil && !c.manifest.BlockTime.IsZero() {
		made, atLeast = c.manifest.BlockTime, ""
	}
	period := defaultTrustPeriod
	if trustPeriod != "" {
		if period, err = time.ParseDuration(trustPeriod); err != nil {
			return nil, api.InvalidField("trustPeriod", "%w", err)
		}
	}
	age := time.Since(made)
	if made.IsZero() || age+trustMargin <= period {
		return nil, nil
	}
	what := fmt.Sprintf("the snapshot of block %d is %s%s old, and seid trusts no block older than the trust period of %s",
		c.height, atLeast, age.Round(time.Minute), period)
	if trustPeriod == "" {
		return []string{what + " unless configure-state-sync is given a longer one"}, nil
	}
	return nil, api.Terminal(api.CodePrecondition, fmt.Errorf("%s", what)).
		WithHint("publish a newer snapshot, or raise trustPeriod, at most to the time that stake stays bonded")
}

// verify compares what was fetched with what was promised.
func (c choice) verify(sum string, size int64) error {
	if c.manifest == nil || (sum == c.manifest.SHA256 && size == c.manifest.Size) {
		return nil
	}
	return api.Terminal(api.CodeIntegrity, fmt.Errorf("%s has %d bytes and SHA-256 %s, its manifest says %d and %s",
		c.object.Key, size, sum, c.manifest.Size, c.manifest.SHA256)).WithHint("the archive was changed or cut after it was uploaded")
}
