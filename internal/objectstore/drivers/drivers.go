// Package drivers links the bucket drivers into a program: S3, Google Cloud
// Storage, Azure Blob Storage, directories and memory. Import it for its side
// effect, in main packages and tests only.
package drivers

import (
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/memblob"   // mem://
	_ "gocloud.dev/blob/s3blob"    // s3://
)
