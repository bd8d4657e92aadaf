// Package drivers opens buckets in this process: S3, Google Cloud Storage, Azure Blob
// Storage, directories and memory. Import it for its side effect, in main packages and tests
// only: the drivers take more memory than all else of a sidecar, used or not.
package drivers

import (
	"github.com/sei-operator/sei-operator/internal/objectstore"

	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/memblob"   // mem://
	_ "gocloud.dev/blob/s3blob"    // s3://
)

func init() { objectstore.Register(open) } //nolint:gochecknoinits // as the drivers themselves do
