package cli

import (
	"context"
	"errors"
	"net/http"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// skewAllowed is what clocks may differ by. Consensus adapts to little more, tokens and
	// certificates to minutes.
	skewAllowed   = 2 * time.Second
	nodeLeaseName = "kube-node-lease"
)

// checkClocks compares this machine with the API server, and the API server with the clocks of the
// cluster's machines: the kubelet writes its own time into its Lease, which cannot lie ahead.
func checkClocks(ctx context.Context, c *checkup) []checkResult {
	server, local, err := c.serverTime(ctx)
	if err != nil {
		return unseen("the time of the API server cannot be read: %v", err)
	}
	var results []checkResult
	// The header has seconds, cut off.
	if skew := local.Sub(server).Round(time.Second); skew.Abs() > skewAllowed {
		results = append(results, warned("this machine and the API server differ by %s: synchronise clocks, or ages are shown wrong", skew.Abs())...)
	}
	var leases coordinationv1.LeaseList
	if err := c.Client.List(ctx, &leases, client.InNamespace(nodeLeaseName)); err != nil {
		return append(results, unseen("Leases of machines cannot be listed: %v", err)...)
	}
	for _, lease := range leases.Items {
		if renewed := lease.Spec.RenewTime; renewed != nil && renewed.Sub(server) > skewAllowed+time.Second {
			results = append(results, failed("the clock of machine %s is ahead of the API server's by %s: synchronise them, "+
				"validators with a wrong clock harm the chain", lease.Name, renewed.Sub(server).Round(time.Second))...)
		}
	}
	if len(results) == 0 {
		return passed("this machine and the API server agree, and no machine is ahead (%d looked at)", len(leases.Items))
	}
	return results
}

// serverTime is the time of the API server and the local one in the middle of the request.
func (c *checkup) serverTime(ctx context.Context) (server, local time.Time, err error) {
	if c.Rest == nil {
		return time.Time{}, time.Time{}, errors.New("there is no connection")
	}
	httpClient, err := rest.HTTPClientFor(c.Rest)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	address, _, err := rest.DefaultServerUrlFor(c.Rest)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.JoinPath("version").String(), nil)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	before := c.factory.Clock.Now()
	answer, err := httpClient.Do(request)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	after := c.factory.Clock.Now()
	server, err = http.ParseTime(answer.Header.Get("Date"))
	return server, before.Add(after.Sub(before) / 2), errors.Join(err, answer.Body.Close())
}
