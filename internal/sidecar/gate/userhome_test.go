package gate

import (
	"slices"
	"testing"
)

func TestWithUserHome_IsNotTheParentOfTheNodesHome(t *testing.T) {
	got := withUserHome([]string{"HOME=/home/nonroot", "PATH=/bin"}, "/home/nonroot/.sei")
	if want := []string{"PATH=/bin", "HOME=/home/nonroot/.sei/tmp"}; !slices.Equal(got, want) {
		t.Errorf("the environment is %q, want %q", got, want)
	}
	if got := withUserHome([]string{"HOME=/root"}, ""); !slices.Equal(got, []string{"HOME=/root"}) {
		t.Errorf("without a node the environment is %q", got)
	}
}
