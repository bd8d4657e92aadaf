package objectstore_test

import (
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/objectstore"
)

func TestURL_APlainNameMeansS3(t *testing.T) {
	for _, tc := range []struct{ bucket, region, want string }{
		{"", "eu-central-1", ""},
		{"snapshots", "eu-central-1", "s3://snapshots?region=eu-central-1"},
		{"snapshots", "", "s3://snapshots"},
		{"gs://snapshots", "eu-central-1", "gs://snapshots"},
		{"file:///srv/b", "", "file:///srv/b"},
	} {
		if got := objectstore.URL(tc.bucket, tc.region); got != tc.want {
			t.Errorf("URL(%q, %q) = %q, want %q", tc.bucket, tc.region, got, tc.want)
		}
	}
}

func TestParseManifest_RefusesWhatCannotBeTrue(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	for doc, wantErr := range map[string]bool{
		`{"sha256":"` + digest + `","size":10,"unpackedSize":20}`: false,
		`{"sha256":"xyz","size":10}`:                              true,
		`{"sha256":"` + digest + `","size":0}`:                    true,
		`{"sha256":"` + digest + `","size":1,"unpackedSize":-1}`:  true,
		`not json`: true,
	} {
		if _, err := objectstore.ParseManifest([]byte(doc)); (err != nil) != wantErr {
			t.Errorf("ParseManifest(%s) = %v, want error %v", doc, err, wantErr)
		}
	}
}
