// Package fork plants a divergence: it stands before the RPC of a real node and tells another app hash from one height
// on, as a node of a chain that has forked would.
package fork

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
)

// AppHash is what every block of the fork has.
const AppHash = "F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0"

var appHash = regexp.MustCompile(`"app_hash":\s*"[0-9A-F]*"`)

// Handler passes requests on to the RPC of a node. from is the height that the fork begins at; it is asked every time.
func Handler(node *url.URL, from func() int64) http.Handler {
	proxy := httputil.NewSingleHostReverseProxy(node)
	proxy.ModifyResponse = func(response *http.Response) error {
		asked := response.Request.URL
		height, err := strconv.ParseInt(asked.Query().Get("height"), 10, 64)
		if err != nil || asked.Path != "/block" || height < from() {
			return nil //nolint:nilerr // it is not about a block of the fork
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return fmt.Errorf("reading the node's answer: %w", err)
		}
		body = appHash.ReplaceAll(body, []byte(`"app_hash":"`+AppHash+`"`))
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		response.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return nil
	}
	return proxy
}
