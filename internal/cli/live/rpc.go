package live

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

// askRPC fills facts from seid's RPC: what the application's state has come to, and what the sidecar
// did not tell.
func askRPC(ctx context.Context, proxy Proxy, pod types.NamespacedName, port int, facts *Facts) error {
	client := rpcClient(proxy, pod, port)
	info, err := client.ABCIInfo(ctx)
	if err != nil {
		return err
	}
	if info.Height > 0 {
		facts.App = &App{Height: info.Height, Hash: strings.ToUpper(hex.EncodeToString(info.AppHash))}
	}
	if facts.Height == nil {
		if status, err := client.Status(ctx); err == nil {
			height := status.SyncInfo.LatestBlockHeight
			lag := max(status.SyncInfo.MaxPeerBlockHeight-height, 0)
			facts.Height, facts.Lag = &height, &lag
		}
	}
	if facts.Peers == nil {
		if net, err := client.NetInfo(ctx); err == nil {
			peers := int64(net.Connected())
			facts.Peers = &peers
		}
	}
	return nil
}

// ChainHash is the application hash that the chain has agreed on for the state after a block, as a
// node tells: it is in the header of the next one.
func ChainHash(ctx context.Context, proxy Proxy, pod types.NamespacedName, height int64) (string, error) {
	commit, err := rpcClient(proxy, pod, int(seid.PortRPC)).Commit(ctx, height+1)
	if err != nil {
		return "", err
	}
	return strings.ToUpper(commit.Header.AppHash), nil
}

func rpcClient(proxy Proxy, pod types.NamespacedName, port int) *rpc.Client {
	transport := &proxyTransport{proxy: proxy, pod: pod, port: port}
	return rpc.New("http://"+pod.Name, rpc.WithHTTPClient(&http.Client{Transport: transport}))
}

// proxyTransport carries the calls of an HTTP client through a Proxy.
type proxyTransport struct {
	proxy Proxy
	pod   types.NamespacedName
	port  int
}

// RoundTrip makes one call. An answer other than 2xx is an error: the API server does not pass its body
// on.
func (t *proxyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	query := map[string]string{}
	for name, values := range req.URL.Query() {
		query[name] = values[0]
	}
	body, err := t.proxy.Get(req.Context(), t.pod, "http", t.port, req.URL.Path, query)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}
