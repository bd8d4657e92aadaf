package snapshot

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/archive"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/leftovers"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

// publisherName marks the archives that are published, and may be deleted, by us.
const publisherName = "sei-operator"

// came is what a publication came to.
type came int

const (
	// cameThere: the snapshot is in the bucket.
	cameThere came = iota
	// cameOutdated: there are enough newer ones.
	cameOutdated
	// cameLater: another node is uploading it, or it is not there any more.
	cameLater
)

// publication is one try to bring the bucket up to date.
type publication struct {
	tasks  *Tasks
	nodeID string
	keep   int
	now    func() time.Time
	pace   *pace
	bucket *objectstore.Bucket
}

func (u *publication) node() string { return u.nodeID[:shortID] }

// run publishes a height, if it is to be published, and tidies up the bucket.
func (u *publication) run(ctx context.Context, height int64, publish bool) (came, error) {
	ctx, release, err := u.tasks.uploading.begin(ctx, u.tasks.uploadTimeout())
	if err != nil {
		return 0, err
	}
	defer release()
	if u.bucket, err = node.Bucket(ctx, u.tasks.Node.SnapshotBucket, "snapshot bucket"); err != nil {
		return 0, err
	}
	defer func() { _ = u.bucket.Close() }()
	var result came
	if publish {
		if result, err = u.publish(ctx, height); err != nil {
			return 0, whyEnded(ctx, err)
		}
	}
	return result, whyEnded(ctx, u.tidy(ctx))
}

// publish brings one height into the bucket, unless it is there, is of no use any more or is on
// its way from another node.
func (u *publication) publish(ctx context.Context, height int64) (came, error) {
	there, err := u.tasks.shelf(ctx, u.bucket)
	switch {
	case err != nil:
		return 0, err
	case there.has(height):
		return cameThere, u.note(ctx, height, nil)
	case there.newerThan(height) >= u.keep:
		return cameOutdated, nil
	}
	mine, err := u.claim(ctx, there, height)
	if err != nil || !mine {
		return cameLater, err
	}
	defer u.unclaim(ctx, height)
	return u.upload(ctx, height)
}

// upload sends archive and manifest. Only the manifest makes the archive count, so an upload
// that was killed is done again and leaves at most an archive that tidy removes.
func (u *publication) upload(ctx context.Context, height int64) (came, error) {
	dir, err := u.tasks.snapshots()
	if err != nil {
		return 0, err
	}
	held, err := hold(dir, []int64{height})
	if err != nil {
		return 0, err
	}
	defer held.release()
	if held.height == 0 {
		return cameLater, nil // seid has deleted it meanwhile; there is a newer one
	}
	key := u.tasks.publishedKey(height, u.node())
	manifest, err := u.tasks.sendArchive(ctx, u.bucket, held, key, archive.Zstd, func(api.Progress) { u.pace.keep(ctx) })
	if err != nil {
		return 0, err
	}
	if err := held.check(); err != nil {
		return 0, err
	}
	manifest.Publisher, manifest.NodeID = publisherName, u.nodeID
	if err := sendManifest(ctx, u.bucket, key, manifest); err != nil {
		return 0, err
	}
	return cameThere, u.note(ctx, height, held)
}

// note remembers that a height is in the bucket, unless the data it is about was just deleted.
func (u *publication) note(ctx context.Context, height int64, uploaded *held) error {
	err := u.tasks.uploading.note(ctx, func() error {
		return u.tasks.writeNote(leftovers.LastPublished, published{Height: height, Time: u.now().UTC().Truncate(time.Second)})
	})
	if err == nil && uploaded != nil {
		u.tasks.Metrics.uploaded(u.tasks.Node.ChainID, wire.OutcomeUploaded, height)
	}
	return err
}

// claim announces the upload to the other nodes of the chain, which make the same snapshots at
// the same time. It only saves work: what two nodes upload all the same does no harm.
func (u *publication) claim(ctx context.Context, there shelf, height int64) (mine bool, err error) {
	if there.claimedBefore(height, u.node(), u.now(), u.stale()) {
		return false, nil
	}
	text, err := json.Marshal(map[string]string{"nodeId": u.nodeID})
	if err != nil {
		return false, err
	}
	if err := u.bucket.Put(ctx, u.tasks.claimKey(height, u.node()), "application/json", strings.NewReader(string(text))); err != nil {
		return false, err
	}
	if there, err = u.tasks.shelf(ctx, u.bucket); err == nil && !there.claimedBefore(height, u.node(), u.now(), u.stale()) {
		return true, nil
	}
	u.unclaim(ctx, height)
	return false, err
}

// stale is how old a claim is that nobody can be working on any more.
func (u *publication) stale() time.Duration { return u.tasks.uploadTimeout() + time.Minute }

// unclaim also works for an upload that was ended. What stays behind is removed by tidy.
func (u *publication) unclaim(ctx context.Context, height int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = u.bucket.Delete(ctx, u.tasks.claimKey(height, u.node()))
}
