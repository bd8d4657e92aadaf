package peers_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/peers"
)

type anything struct{ asked int }

func (a *anything) Find(context.Context, string, map[string]string) ([]peers.Instance, error) {
	a.asked++
	return []peers.Instance{{ID: "i-1"}}, nil
}

func TestAllowed_AsksOnlyWhatThePlatformAllows(t *testing.T) {
	list := peers.Allowed{Regions: []string{"eu-central-1"}, Tags: []string{"sei-chain", "role=sentry"}}
	for name, tc := range map[string]struct {
		list   peers.Allowed
		region string
		tags   map[string]string
		want   string // empty: it is asked
	}{
		"tag by name":           {list, "eu-central-1", map[string]string{"sei-chain": "pacific-1"}, ""},
		"tag by value":          {list, "eu-central-1", map[string]string{"role": "sentry"}, ""},
		"with further tags":     {list, "eu-central-1", map[string]string{"role": "sentry", "team": "x"}, ""},
		"another value":         {list, "eu-central-1", map[string]string{"role": "database"}, "none of these tags is among peers.ec2.tags of the operator's configuration (sei-chain, role=sentry)"},
		"another tag":           {list, "eu-central-1", map[string]string{"Name": "*"}, "none of these tags"},
		"another region":        {list, "us-east-1", map[string]string{"role": "sentry"}, "region us-east-1 is not among peers.ec2.regions of the operator's configuration (eu-central-1)"},
		"nothing is configured": {peers.Allowed{}, "us-east-1", map[string]string{"role": "sentry"}, "(none)"},
	} {
		t.Run(name, func(t *testing.T) {
			source := &anything{}
			tc.list.Source = source
			found, err := tc.list.Find(t.Context(), tc.region, tc.tags)
			if tc.want == "" {
				if err != nil || len(found) != 1 || source.asked != 1 {
					t.Errorf("got %v, %v; asked %d times", found, err, source.asked)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || source.asked != 0 {
				t.Errorf("got %v, want %q; asked %d times", err, tc.want, source.asked)
			}
		})
	}
}
