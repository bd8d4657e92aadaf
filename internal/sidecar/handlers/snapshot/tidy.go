package snapshot

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sei-operator/sei-operator/internal/objectstore"
)

// leftAlone is how old what another node seems to have left behind has to be before it is
// removed: an archive is there for a moment before its manifest is.
const leftAlone = 24 * time.Hour

// tidy removes the published snapshots that are beyond those to be kept, and what killed
// uploads have left. Archives that others put there are not touched.
func (u *publication) tidy(ctx context.Context) error {
	there, err := u.tasks.shelf(ctx, u.bucket)
	if err != nil {
		return err
	}
	for _, a := range there.beyond(u.keep) {
		if err := u.remove(ctx, a); err != nil {
			return err
		}
	}
	for _, key := range there.leftovers(u.node(), u.now()) {
		if err := u.bucket.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes an archive that its manifest calls ours. The manifest goes first, so that
// nobody takes the archive for complete meanwhile.
func (u *publication) remove(ctx context.Context, a stored) error {
	manifest, err := readManifest(ctx, u.bucket, a.object.Key)
	if err != nil {
		return err
	}
	if manifest != nil && manifest.Publisher != publisherName {
		return nil
	}
	if err := u.bucket.Delete(ctx, a.object.Key+objectstore.ManifestSuffix); err != nil {
		return err
	}
	return u.bucket.Delete(ctx, a.object.Key)
}

// published are the complete archives of publishers, newest first.
func (s shelf) published() []stored {
	ours := slices.DeleteFunc(slices.Clone(s.archives), func(a stored) bool { return a.node == "" || !a.manifest })
	slices.SortStableFunc(ours, func(a, b stored) int { return cmp.Compare(b.height, a.height) })
	return ours
}

// beyond are the published archives below the newest heights. Several nodes may have published
// the same height; it counts once.
func (s shelf) beyond(keep int) []stored {
	heights := 0
	var last int64
	for i, a := range s.published() {
		if a.height != last {
			heights, last = heights+1, a.height
		}
		if heights > keep {
			return s.published()[i:]
		}
	}
	return nil
}

// newerThan counts the published heights above one.
func (s shelf) newerThan(height int64) int {
	newer := map[int64]bool{}
	for _, a := range s.published() {
		if a.height > height {
			newer[a.height] = true
		}
	}
	return len(newer)
}

// leftovers are the keys that a killed upload or deletion has left: of this node at once, as it
// uploads nothing now, of others when they are old.
func (s shelf) leftovers(node string, now time.Time) []string {
	isLeft := func(owner string, o objectstore.Object) bool { return owner == node || now.Sub(o.ModTime) > leftAlone }
	var keys []string
	for _, a := range s.archives {
		if a.node != "" && !a.manifest && isLeft(a.node, a.object) {
			keys = append(keys, a.object.Key)
		}
	}
	for _, c := range slices.Concat(s.claims, s.parts) {
		if isLeft(c.node, c.object) {
			keys = append(keys, c.object.Key)
		}
	}
	return keys
}
