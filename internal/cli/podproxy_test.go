package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestAPIServerProxy_AsksThePodByTheAPIServer(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		switch {
		case strings.Contains(asked, "/ok"):
			_, _ = w.Write([]byte("fine"))
		case strings.Contains(asked, "/status"):
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not yours","reason":"Forbidden","code":403}`))
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("error trying to reach service: connection refused"))
		}
	}))
	defer server.Close()
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	proxy := &apiServerProxy{clientset: clientset}
	pod := types.NamespacedName{Namespace: "sei", Name: "rpc-0-0"}
	body, err := proxy.Get(t.Context(), pod, "http", 26657, "/ok", map[string]string{"height": "7"})
	if err != nil || string(body) != "fine" || asked != "/api/v1/namespaces/sei/pods/http:rpc-0-0:26657/proxy/ok?height=7" {
		t.Errorf("asked %q and got %q, %v", asked, body, err)
	}
	if _, err := proxy.Get(t.Context(), pod, "http", 26657, "/status", nil); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "not yours") {
		t.Errorf("a status of the API server: %v", err)
	}
	if _, err := proxy.Get(t.Context(), pod, "http", 26657, "/down", nil); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("words of the proxy: %v", err)
	}
}
