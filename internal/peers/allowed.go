package peers

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Allowed lets questions about EC2 through that the platform team has allowed: the operator asks with
// its own identity, which may see more than the author of a node should.
type Allowed struct {
	Source Instances
	// Regions that may be asked.
	Regions []string
	// Tags, as name or name=value: every question names one of them at least. Further tags only
	// find less.
	Tags []string
}

// Find implements Instances.
func (a Allowed) Find(ctx context.Context, region string, tags map[string]string) ([]Instance, error) {
	if !slices.Contains(a.Regions, region) {
		return nil, fmt.Errorf("region %s is not among peers.ec2.regions of the operator's configuration (%s)", region, listed(a.Regions))
	}
	for name, value := range tags {
		if slices.Contains(a.Tags, name) || slices.Contains(a.Tags, name+"="+value) {
			return a.Source.Find(ctx, region, tags)
		}
	}
	return nil, fmt.Errorf("none of these tags is among peers.ec2.tags of the operator's configuration (%s)", listed(a.Tags))
}

func listed(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return strings.Join(values, ", ")
}
