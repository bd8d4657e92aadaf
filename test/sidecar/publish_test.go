package sidecar_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// awaitPublished waits until a snapshot above a height is in the bucket.
func (n *node) awaitPublished(above int64) int64 {
	n.t.Helper()
	doc, _ := n.awaitDocument(fmt.Sprintf("a published snapshot above %d", above), func(d api.Node) bool {
		return d.Published != nil && d.Published.Height > above
	})
	return doc.Published.Height
}

// completeHeights are those of the archives with a manifest, and unfinished the names of the others.
func completeHeights(t *testing.T, dir string) (heights []int64, unfinished []string) {
	t.Helper()
	names := map[string]bool{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names[f.Name()] = true
	}
	found := map[int64]bool{}
	for name := range names {
		switch height, _, ok := strings.Cut(name, "-"); {
		case strings.HasSuffix(name, objectstore.ManifestSuffix), strings.HasSuffix(name, ".attrs"):
		case ok && strings.HasSuffix(name, ".tar.zst") && names[name+objectstore.ManifestSuffix]:
			h, err := strconv.ParseInt(height, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			found[h] = true
		default:
			unfinished = append(unfinished, name)
		}
	}
	return slices.Sorted(maps.Keys(found)), unfinished
}

// Two validators of one chain publish to one bucket, the sidecar of one is killed now and then, and
// a new node starts from what is there.
func TestThreeValidators_PublishTheirSnapshots_ANewNodeRestoresTheNewest(t *testing.T) {
	const keep = 2
	dir := t.TempDir()
	bucket := "file://" + dir
	validators := make([]*node, 3)
	for i := range validators {
		validators[i] = newNode(t, "publish-1", fmt.Sprintf("v%d", i), bucket)
	}
	genesis := ceremony(validators, snapshotting)
	for _, v := range validators {
		v.start()
	}
	publishers := validators[:2]
	for _, v := range publishers {
		v.awaitHeight(5)
		do[any](v, api.PublishSnapshots, wire.PublishSnapshots{Keep: keep})
	}
	published := publishers[0].awaitPublished(0)
	for range 3 {
		publishers[0].Kill()
		publishers[0].Restart()
		published = publishers[0].awaitPublished(published)
	}
	publishers[1].awaitPublished(0)
	var heights []int64
	publishers[0].awaitDocument("a bucket with the newest snapshots and nothing else", func(api.Node) bool {
		var unfinished []string
		heights, unfinished = completeHeights(t, filepath.Join(dir, "publish-1", "state-sync"))
		return len(heights) == keep && len(unfinished) == 0
	})
	for _, v := range publishers {
		do[any](v, api.PublishSnapshots, wire.PublishSnapshots{})
	}
	t.Logf("in the bucket: %v", heights)
	if newest := heights[len(heights)-1]; newest < published {
		t.Errorf("the newest in the bucket is %d, %s says %d", newest, publishers[0].name, published)
	}
	if got := restoreNewest(t, validators, genesis, bucket); got < published {
		t.Errorf("restored %d, want %d or later", got, published)
	}
}
