package objectstore

import (
	"net/url"
	"strings"
)

// URL is the address of a bucket. A plain name means an S3 bucket, which is what
// the bucket and region settings of the public sidecar mean; anything with a
// scheme is taken as it is.
func URL(bucket, region string) string {
	if bucket == "" || strings.Contains(bucket, "://") {
		return bucket
	}
	u := url.URL{Scheme: "s3", Host: bucket}
	if region != "" {
		u.RawQuery = url.Values{"region": {region}}.Encode()
	}
	return u.String()
}

// WithoutQuery is the address as people should see it: options may carry
// credentials, names do not.
func WithoutQuery(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return strings.TrimSuffix(before, "/")
}
