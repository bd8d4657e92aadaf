package snapshot

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/archive"
)

// stored is an archive in a bucket.
type stored struct {
	height int64
	// node is the short id of the node that published it; empty for an archive that a task or
	// another program put there.
	node   string
	object objectstore.Object
	// manifest: there is one beside it.
	manifest bool
}

// complete reports whether an archive can be relied on to be whole. Publishers write the
// manifest last; other programs may write none at all.
func (s stored) complete() bool { return s.manifest || s.node == "" }

// claim is the announcement of a node that it is uploading a snapshot, or a trace of that.
type claim struct {
	height int64
	node   string
	object objectstore.Object
}

// shelf is what lies in a bucket for one chain.
type shelf struct {
	archives []stored
	claims   []claim
	// parts are archives that are being written to a bucket that is a directory.
	parts []claim
}

// shortID is how much of a node's id is in the names of what it publishes.
const shortID = 12

var (
	archiveName = regexp.MustCompile(`^([0-9]{1,18})(?:-([0-9a-f]{12}))?\.tar\.(?:gz|zst)$`)
	claimName   = regexp.MustCompile(`^([0-9]{1,18})-([0-9a-f]{12})\.claim$`)
	partName    = regexp.MustCompile(`^([0-9]{1,18})-([0-9a-f]{12})\.tar\.zst\..*\.tmp$`)
)

// key is the archive that a task uploads. latest.txt and the public sidecar know it by its
// height alone.
func (t *Tasks) key(height int64) string {
	return fmt.Sprintf("%s%d%s", t.prefix(), height, archive.Gzip.Extension())
}

// publishedKey is the archive that a node publishes. Every node has its own, so that two that
// upload the same height at once never mix an archive with a manifest of the other.
func (t *Tasks) publishedKey(height int64, node string) string {
	return fmt.Sprintf("%s%d-%s%s", t.prefix(), height, node, archive.Zstd.Extension())
}

func (t *Tasks) claimKey(height int64, node string) string {
	return fmt.Sprintf("%s%d-%s.claim", t.prefix(), height, node)
}

// shelf lists what there is of the chain.
func (t *Tasks) shelf(ctx context.Context, bucket *objectstore.Bucket) (shelf, error) {
	var s shelf
	manifests := map[string]bool{}
	err := bucket.List(ctx, t.prefix(), func(o objectstore.Object) error {
		name := path.Base(o.Key)
		if archive, ok := strings.CutSuffix(o.Key, objectstore.ManifestSuffix); ok {
			manifests[archive] = true
		} else if height, node, ok := parseName(archiveName, name); ok {
			s.archives = append(s.archives, stored{height: height, node: node, object: o})
		} else if height, node, ok := parseName(claimName, name); ok {
			s.claims = append(s.claims, claim{height: height, node: node, object: o})
		} else if height, node, ok := parseName(partName, name); ok {
			s.parts = append(s.parts, claim{height: height, node: node, object: o})
		}
		return nil
	})
	for i := range s.archives {
		s.archives[i].manifest = manifests[s.archives[i].object.Key]
	}
	return s, err
}

func parseName(pattern *regexp.Regexp, name string) (height int64, node string, ok bool) {
	m := pattern.FindStringSubmatch(name)
	if m == nil {
		return 0, "", false
	}
	height, err := strconv.ParseInt(m[1], 10, 64)
	return height, m[2], err == nil
}

// newest is the newest complete archive at or below a height, 0 meaning any. Of two of the
// same height the one with a manifest is taken.
func (s shelf) newest(target int64) (best stored) {
	for _, a := range s.archives {
		switch {
		case !a.complete() || target != 0 && a.height > target:
		case a.height > best.height, a.height == best.height && a.manifest && !best.manifest:
			best = a
		}
	}
	return best
}

// has reports whether a snapshot of this height is there with its manifest.
func (s shelf) has(height int64) bool {
	for _, a := range s.archives {
		if a.height == height && a.manifest {
			return true
		}
	}
	return false
}

// claimedBefore reports whether another node is uploading a height: its claim is the only one,
// or older than this node's. A claim that is older than any upload can last was left by a node
// that was killed.
func (s shelf) claimedBefore(height int64, node string, now time.Time, stale time.Duration) bool {
	first := claim{}
	for _, c := range s.claims {
		switch {
		case c.height != height || now.Sub(c.object.ModTime) >= stale && c.node != node:
		case first.node == "", c.object.ModTime.Before(first.object.ModTime),
			c.object.ModTime.Equal(first.object.ModTime) && c.node < first.node:
			first = c
		}
	}
	return first.node != "" && first.node != node
}
