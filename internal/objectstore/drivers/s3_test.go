package drivers_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/objectstore/drivers"
)

// s3 is as much of S3 as a bucket client sees: objects, listings, uploads in
// parts, and the errors that matter.
type s3 struct {
	mu      sync.Mutex
	objects map[string][]byte
	parts   map[string][]byte
	fail    string // an error code for every request
	// conditions: what becomes of a write that must not replace anything; empty is refused
	// when there is something.
	conditions string
}

func (s *s3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	query := r.URL.Query()
	switch {
	case s.fail != "":
		status := map[string]int{"AccessDenied": 403, "SlowDown": 503}[s.fail]
		s3Error(w, status, s.fail)
	case bucket != "snapshots":
		s3Error(w, 404, "NoSuchBucket")
	case r.Method == http.MethodGet && query.Get("list-type") == "2":
		_, _ = io.WriteString(w, `<ListBucketResult>`)
		for name, data := range s.objects {
			if strings.HasPrefix(name, query.Get("prefix")) {
				_, _ = fmt.Fprintf(w, `<Contents><Key>%s</Key><Size>%d</Size><ETag>e</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`, name, len(data))
			}
		}
		_, _ = io.WriteString(w, `</ListBucketResult>`)
	case r.Method == http.MethodPost && query.Has("uploads"):
		_, _ = io.WriteString(w, `<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>`)
	case r.Method == http.MethodPut && query.Has("partNumber"):
		s.parts[query.Get("partNumber")] = payload(r, body)
		w.Header().Set("ETag", `"e"`)
	case r.Method == http.MethodPost && query.Has("uploadId"):
		for i := 1; i <= len(s.parts); i++ {
			s.objects[key] = append(s.objects[key], s.parts[fmt.Sprint(i)]...)
		}
		_, _ = io.WriteString(w, `<CompleteMultipartUploadResult><Key>k</Key></CompleteMultipartUploadResult>`)
	case r.Method == http.MethodPut:
		s.put(w, r, key, body)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case s.objects[key] == nil:
		s3Error(w, 404, "NoSuchKey")
	default:
		_, _ = w.Write(s.objects[key])
	}
}

func (s *s3) put(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	condition := r.Header.Get("If-None-Match")
	switch {
	case condition != "" && s.conditions != "":
		s3Error(w, 501, s.conditions)
	case condition == "*" && s.objects[key] != nil:
		s3Error(w, 412, "PreconditionFailed")
	default:
		s.objects[key] = payload(r, body)
	}
}

// payload takes the chunk framing off that the SDK uses for checksummed streams.
func payload(r *http.Request, body []byte) []byte {
	if !strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked") {
		return body
	}
	var out []byte
	for {
		header, rest, ok := bytes.Cut(body, []byte("\r\n"))
		var size int
		if _, err := fmt.Sscanf(string(header), "%x", &size); !ok || err != nil || size == 0 {
			return out
		}
		out, body = append(out, rest[:size]...), rest[size+2:]
	}
}

func s3Error(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<Error><Code>%s</Code><Message>said the server</Message></Error>`, code)
}

func newS3(t *testing.T) (*s3, string) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	server := &s3{objects: map[string][]byte{}, parts: map[string][]byte{}}
	srv := httptest.NewServer(server)
	t.Cleanup(srv.Close)
	return server, "?region=us-east-1&use_path_style=true&endpoint=" + srv.URL
}

func TestS3_StreamsInPartsAndReadsBack(t *testing.T) {
	server, options := newS3(t)
	b := open(t, "s3://snapshots"+options)
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MB: several parts
	// A reader that can do nothing but read, as a pipe.
	if err := b.Put(t.Context(), "c/1.tar.gz", "application/gzip", io.MultiReader(bytes.NewReader(large))); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), "c/latest.txt", "text/plain", strings.NewReader("1")); err != nil {
		t.Fatal(err)
	}
	if len(server.parts) < 2 || !bytes.Equal(server.objects["c/1.tar.gz"], large) {
		t.Errorf("%d parts with %d bytes arrived, want several with %d", len(server.parts), len(server.objects["c/1.tar.gz"]), len(large))
	}
	got, err := b.ReadAll(t.Context(), "c/latest.txt", 10)
	if err != nil || string(got) != "1" {
		t.Errorf("read %q, %v", got, err)
	}
	sizes := map[string]int64{}
	err = b.List(t.Context(), "c/", func(o objectstore.Object) error { sizes[o.Key] = o.Size; return nil })
	if diff := cmp.Diff(map[string]int64{"c/1.tar.gz": 16 << 20, "c/latest.txt": 1}, sizes); diff != "" || err != nil {
		t.Errorf("listing (-want +got):\n%s%v", diff, err)
	}
}

func TestS3_ErrorsAreToldApart(t *testing.T) {
	server, options := newS3(t)
	for _, tc := range []struct {
		bucket, fail string
		kind         objectstore.Kind
		retryable    bool
	}{
		{"snapshots", "", objectstore.KindNotFound, true},
		{"elsewhere", "", objectstore.KindNoBucket, false},
		{"snapshots", "AccessDenied", objectstore.KindDenied, false},
		{"snapshots", "SlowDown", objectstore.KindUnavailable, true},
	} {
		server.fail = tc.fail
		_, err := open(t, "s3://"+tc.bucket+options).Get(t.Context(), "c/genesis.json")
		if got := drivers.Classify(err); got == nil || got.Kind != tc.kind || got.Retryable() != tc.retryable || !strings.Contains(err.Error(), "[hint: ") {
			t.Errorf("%s %s: %v is %+v, want %s", tc.bucket, tc.fail, err, got, tc.kind)
		}
	}
}

func TestS3_PutNew_IsACondition(t *testing.T) {
	server, options := newS3(t)
	b := open(t, "s3://snapshots"+options)
	put := func(content string) error {
		return b.PutAbsent(t.Context(), "demo/genesis.json", "application/json", []byte(content))
	}
	if err := put("first"); err != nil {
		t.Fatal(err)
	}
	if err := put("second"); objectstore.KindOf(err) != objectstore.KindExists || string(server.objects["demo/genesis.json"]) != "first" {
		t.Errorf("the second write ends with %v and leaves %q", err, server.objects["demo/genesis.json"])
	}
	// A store that knows no conditions still takes objects.
	server.conditions = "NotImplemented"
	delete(server.objects, "demo/genesis.json")
	if err := put("third"); err != nil || string(server.objects["demo/genesis.json"]) != "third" {
		t.Errorf("the write without conditions ends with %v and leaves %q", err, server.objects["demo/genesis.json"])
	}
}

func TestS3_Delete_AndWhatMayNotBeDeletedIsToldApart(t *testing.T) {
	server, options := newS3(t)
	b := open(t, "s3://snapshots"+options)
	if err := b.Put(t.Context(), "c/1.tar.zst", "application/zstd", strings.NewReader("archive")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Delete(t.Context(), "c/1.tar.zst"); err != nil || len(server.objects) != 0 {
			t.Errorf("deleting ends with %v and leaves %v", err, server.objects)
		}
	}
	server.fail = "AccessDenied"
	if err := b.Delete(t.Context(), "c/1.tar.zst"); objectstore.KindOf(err) != objectstore.KindDenied {
		t.Errorf("deleting without permission: %v", err)
	}
}
