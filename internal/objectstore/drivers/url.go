package drivers

import (
	"fmt"
	"net/url"
)

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
