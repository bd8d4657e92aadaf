// Command probe is what the cluster's test runs in pods: a server whose answer lives on a volume, and a client that
// checks what a pod may expect of a cluster.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const credentials = "/var/run/secrets/kubernetes.io/serviceaccount/"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	switch {
	case len(args) == 2 && args[0] == "serve":
		return serve(ctx, args[1])
	case len(args) == 2 && args[0] == "check":
		return check(ctx, args[1])
	}
	return errors.New("usage: probe serve FILE | probe check URL")
}

// serve answers with the file's content, which the first start writes.
func serve(ctx context.Context, file string) error {
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(file, fmt.Appendf(nil, "written by uid %d at %d", os.Getuid(), time.Now().UnixNano()), 0o644); err != nil {
			return fmt.Errorf("writing to the volume: %w", err)
		}
	}
	server := &http.Server{Addr: ":8080", ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, file)
	})}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// check prints what it found, one line each, and fails on the first thing amiss.
func check(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	// A Service refuses connections until the proxy has heard of its first ready pod.
	body, err := get(ctx, http.DefaultClient, url, "")
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for err != nil && ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		body, err = get(ctx, http.DefaultClient, url, "")
	}
	if err != nil {
		return fmt.Errorf("asking the service: %w", err)
	}
	fmt.Println("service:", string(body))
	var notFound *net.DNSError
	if _, err := net.DefaultResolver.LookupHost(ctx, "example.com"); !errors.As(err, &notFound) || !notFound.IsNotFound {
		return fmt.Errorf("a name outside the cluster should not exist, got: %w", err)
	}
	if err := os.WriteFile("/proof", nil, 0o644); !errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("the root file system should be read-only, got: %w", err)
	}
	return checkIssuer(ctx)
}

// checkIssuer reads the token issuer's documents with the pod's own token, as anyone who verifies tokens does.
func checkIssuer(ctx context.Context) error {
	token, err := os.ReadFile(credentials + "token")
	if err != nil {
		return fmt.Errorf("reading the token: %w", err)
	}
	authority, err := os.ReadFile(credentials + "ca.crt")
	if err != nil {
		return fmt.Errorf("reading the authority: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	var discovery struct {
		Issuer string `json:"issuer"`
	}
	var keys struct {
		Keys []map[string]any `json:"keys"`
	}
	const api = "https://kubernetes.default.svc"
	for path, into := range map[string]any{"/.well-known/openid-configuration": &discovery, "/openid/v1/jwks": &keys} {
		body, err := get(ctx, client, api+path, strings.TrimSpace(string(token)))
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		if err := json.Unmarshal(body, into); err != nil {
			return fmt.Errorf("decoding %s: %w", path, err)
		}
	}
	fmt.Println("issuer:", discovery.Issuer)
	fmt.Println("keys:", len(keys.Keys))
	return nil
}

func get(ctx context.Context, client *http.Client, url, token string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("sending the request: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %w", response.Status, err)
	}
	return body, nil
}
