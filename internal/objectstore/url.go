package objectstore

import (
	"fmt"
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

// driverURL adds what a driver needs to be safe to the address a user wrote.
func driverURL(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("parsing bucket address: %w", err)
	}
	if u.Scheme == "" {
		return "", fmt.Errorf("bucket address %q has no scheme; write s3://, gs://, azblob://, file:// or mem://", address)
	}
	query := u.Query()
	switch u.Scheme {
	case "file":
		// Temporary files have to be on the bucket's own file system, or the rename
		// that makes an object appear whole cannot work.
		setDefault(query, "no_tmp_dir", "true")
	case "s3":
		// Snapshots carry their own digest, and the SDK complains about every
		// object that was uploaded without its checksum.
		setDefault(query, "response_checksum_validation", "when_required")
	default:
		return address, nil
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}

func setDefault(query url.Values, name, value string) {
	if !query.Has(name) {
		query.Set(name, value)
	}
}

// withoutQuery is the address as people should see it: options may carry
// credentials, names do not.
func withoutQuery(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return strings.TrimSuffix(before, "/")
}
