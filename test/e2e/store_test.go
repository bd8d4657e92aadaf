package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// The buckets of the operator's configuration.
const (
	bucketSnapshots = "snapshots"
	bucketResults   = "results"
)

// store speaks S3 to the pods and keeps everything in the memory of the tests.
type store struct {
	gofakes3.Backend
	address string
}

// startStore starts it at the machine's end of the link to the cluster. It lives as long as the tests.
func (c *cluster) startStore(ctx context.Context) error {
	backend := s3mem.New()
	for _, bucket := range []string{bucketSnapshots, bucketResults} {
		if err := backend.CreateBucket(bucket); err != nil {
			return fmt.Errorf("making bucket %s: %w", bucket, err)
		}
	}
	address, err := c.serve(ctx, gofakes3.New(backend).Server())
	c.store = store{Backend: backend, address: address}
	return err
}

// serve answers requests of pods and of this machine until the tests end, and returns the address.
func (c *cluster) serve(ctx context.Context, handler http.Handler) (string, error) {
	network, err := netip.ParsePrefix(c.network)
	if err != nil {
		return "", fmt.Errorf("parsing the cluster's network: %w", err)
	}
	machine := network.Masked().Addr().Next() // the first address of the range is this end of the link
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", netip.AddrPortFrom(machine, 0).String())
	if err != nil {
		return "", fmt.Errorf("listening for pods: %w", err)
	}
	go func() {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
		if err := server.Serve(listener); !errors.Is(err, net.ErrClosed) {
			fmt.Fprintln(os.Stderr, "e2e: serving pods:", err)
		}
	}()
	return "http://" + listener.Addr().String(), nil
}

// url is a bucket as the operator's configuration names it.
func (s store) url(bucket string) string {
	return fmt.Sprintf("s3://%s?region=local&use_path_style=true&anonymous=true&request_checksum_calculation=when_required&endpoint=%s", bucket, s.address)
}

// keys are the objects of a bucket below a prefix.
func (s store) keys(bucket, prefix string) ([]string, error) {
	below := gofakes3.NewPrefix(&prefix, nil)
	list, err := s.ListBucket(bucket, &below, gofakes3.ListBucketPage{})
	if err != nil {
		return nil, fmt.Errorf("listing bucket %s: %w", bucket, err)
	}
	keys := make([]string, 0, len(list.Contents))
	for _, object := range list.Contents {
		keys = append(keys, object.Key)
	}
	return keys, nil
}

// read is the content of an object.
func (s store) read(bucket, key string) ([]byte, error) {
	object, err := s.GetObject(bucket, key, nil)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	defer func() { _ = object.Contents.Close() }()
	content, err := io.ReadAll(object.Contents)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	return content, nil
}
