package seidcmd_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVersion_OfEitherStream(t *testing.T) {
	for name, body := range map[string]string{"output": "echo v6.4.1; echo later", "errors": "echo v6.4.1 >&2"} {
		if got, err := script(t, body).Version(t.Context()); err != nil || got != "v6.4.1" {
			t.Errorf("%s: version %q, %v", name, got, err)
		}
	}
	for _, body := range []string{"true", "exit 3"} {
		if got, err := script(t, body).Version(t.Context()); err == nil {
			t.Errorf("%s: version %q", body, got)
		}
	}
}

func TestBuildTags_OfTheLongVersion(t *testing.T) {
	got, err := script(t, `printf 'name: sei\nbuild_tags: netgo,rocksdbBackend\ngo: x\n'`).BuildTags(t.Context())
	if diff := cmp.Diff([]string{"netgo", "rocksdbBackend"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := script(t, "echo name: sei").BuildTags(t.Context()); err == nil {
		t.Errorf("tags %v without any", got)
	}
}
