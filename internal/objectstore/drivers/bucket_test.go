package drivers_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/objectstore/drivers"
)

func open(t *testing.T, address string) *objectstore.Bucket {
	t.Helper()
	b, err := objectstore.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestBucket_WhatWasPutComesBack(t *testing.T) {
	payload := make([]byte, 3<<20)
	if _, err := rand.Read(payload); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"mem://", "file://" + t.TempDir()} {
		b := open(t, address)
		if err := b.Put(t.Context(), "chain/state-sync/7.tar.gz", "application/gzip", bytes.NewReader(payload)); err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		got, err := b.ReadAll(t.Context(), "chain/state-sync/7.tar.gz", int64(len(payload)))
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		if !bytes.Equal(got, payload) {
			t.Errorf("%s: read back other bytes", address)
		}
		var keys []string
		err = b.List(t.Context(), "chain/", func(o objectstore.Object) error {
			keys = append(keys, o.Key)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"chain/state-sync/7.tar.gz"}, keys); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", address, diff)
		}
	}
}

type brokenReader struct{ after io.Reader }

func (r *brokenReader) Read(p []byte) (int, error) {
	n, err := r.after.Read(p)
	if errors.Is(err, io.EOF) {
		return n, errors.New("the disk fell over")
	}
	return n, err
}

func TestBucket_Put_WhenTheSourceBreaks_LeavesNoObject(t *testing.T) {
	dir := t.TempDir()
	for _, address := range []string{"mem://", "file://" + dir} {
		b := open(t, address)
		err := b.Put(t.Context(), "half", "text/plain", &brokenReader{strings.NewReader("first half")})
		if err == nil || !strings.Contains(err.Error(), "the disk fell over") {
			t.Fatalf("%s: Put = %v, want the source's error", address, err)
		}
		if _, err := b.Get(t.Context(), "half"); objectstore.KindOf(err) != objectstore.KindNotFound {
			t.Errorf("%s: Get = %v, want not found", address, err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		t.Errorf("%s was left behind", filepath.Join(dir, e.Name()))
	}
}

func TestBucket_ReadAll_RefusesMoreThanTheLimit(t *testing.T) {
	b := open(t, "mem://")
	if err := b.Put(t.Context(), "big", "text/plain", strings.NewReader("0123456789")); err != nil {
		t.Fatal(err)
	}
	_, err := b.ReadAll(t.Context(), "big", 9)
	if objectstore.KindOf(err) != objectstore.KindTooLarge {
		t.Fatalf("ReadAll = %v, want too large", err)
	}
}

func TestOpen_RefusesAddressesItCannotServe(t *testing.T) {
	for address, want := range map[string]string{
		"no-scheme":     "has no scheme",
		"ftp://b":       "no driver registered",
		"file:///no/sx": "no such file",
	} {
		_, err := objectstore.Open(t.Context(), address)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q) = %v, want %q", address, err, want)
		}
	}
}

func TestError_NeverShowsTheQueryOfAnAddress(t *testing.T) {
	b := open(t, "mem://?prefix=secret/")
	_, err := b.Get(t.Context(), "k")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Fatalf("Get = %v, want an error without the query", err)
	}
}

func TestError_SaysWhetherTryingAgainHelps(t *testing.T) {
	for _, tc := range []struct {
		err       error
		kind      objectstore.Kind
		retryable bool
	}{
		{errors.New("api error NoSuchBucket: gone"), objectstore.KindNoBucket, false},
		{errors.New("api error AccessDenied: no"), objectstore.KindDenied, false},
		{errors.New("api error SlowDown: please"), objectstore.KindUnavailable, true},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, objectstore.KindUnavailable, true},
		{errors.New("something else"), objectstore.KindOther, true},
	} {
		got := drivers.Classify(tc.err)
		if got.Kind != tc.kind || got.Retryable() != tc.retryable {
			t.Errorf("%v: kind %s retryable %v, want %s %v", tc.err, got.Kind, got.Retryable(), tc.kind, tc.retryable)
		}
	}
	if err := drivers.Classify(context.Canceled); err != nil {
		t.Errorf("a cancelled call became %v", err)
	}
}

func TestPartSize_AnArchiveOfHundredsOfGiB_FitsIntoTenThousandParts(t *testing.T) {
	for size, want := range map[int64]int{0: 8 << 20, 70 << 30: 8 << 20, 500 << 30: 57 << 20, 1 << 40: 117 << 20} {
		got := drivers.PartSize(size)
		if got != want || (size+size/20)/int64(got) >= 10_000 {
			t.Errorf("PartSize(%d) = %d, want %d", size, got, want)
		}
	}
}

func TestBucket_GetFrom_ReadsTheRest(t *testing.T) {
	for _, address := range []string{"mem://", "file://" + t.TempDir()} {
		b := open(t, address)
		if err := b.Put(t.Context(), "k", "text/plain", strings.NewReader("0123456789")); err != nil {
			t.Fatal(err)
		}
		at, err := b.Stat(t.Context(), "k")
		if err != nil || at.Size != 10 || at.ETag == "" || at.ModTime.IsZero() {
			t.Errorf("%s: Stat = %+v, %v", address, at, err)
		}
		r, err := b.GetFrom(t.Context(), "k", 7)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || string(data) != "789" {
			t.Errorf("%s: read %q, %v", address, data, err)
		}
		if _, err := b.Stat(t.Context(), "none"); objectstore.KindOf(err) != objectstore.KindNotFound {
			t.Errorf("%s: Stat of a missing object = %v", address, err)
		}
	}
}

func TestBucket_PutNew_NeverReplaces(t *testing.T) {
	for _, name := range []string{"mem://", "file://" + t.TempDir()} {
		b := open(t, name)
		if err := b.PutAbsent(t.Context(), "a/genesis.json", "application/json", []byte("first")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err := b.PutAbsent(t.Context(), "a/genesis.json", "application/json", []byte("second"))
		if objectstore.KindOf(err) != objectstore.KindExists {
			t.Errorf("%s: the second write ends with %v", name, err)
		}
		if got, err := b.ReadAll(t.Context(), "a/genesis.json", 100); err != nil || string(got) != "first" {
			t.Errorf("%s: the object is %q, %v", name, got, err)
		}
	}
}

func TestBucket_Delete_OneThatIsNotThereIsFine(t *testing.T) {
	for _, name := range []string{"mem://", "file://" + t.TempDir()} {
		b := open(t, name)
		if err := b.Put(t.Context(), "a/7.tar.zst", "application/zstd", strings.NewReader("archive")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := b.Delete(t.Context(), "a/7.tar.zst"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := b.Stat(t.Context(), "a/7.tar.zst"); objectstore.KindOf(err) != objectstore.KindNotFound {
			t.Errorf("%s: a deleted object: %v", name, err)
		}
	}
}
