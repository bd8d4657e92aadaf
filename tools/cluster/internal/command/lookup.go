package command

import (
	"context"
	"fmt"
	"net"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

// lookUp asks the cluster's name server for the one Service that always exists.
func lookUp(ctx context.Context, l layout.Layout) error {
	resolver := net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, net.JoinHostPort(l.NodeIP().String(), "53"))
		},
	}
	name := "kubernetes.default.svc." + layout.ClusterDomain + "."
	if _, err := resolver.LookupHost(ctx, name); err != nil {
		return fmt.Errorf("looking up %s: %w", name, err)
	}
	return nil
}
