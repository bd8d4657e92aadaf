package program_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	_ "github.com/sei-operator/sei-operator/internal/objectstore/drivers"
	"github.com/sei-operator/sei-operator/internal/objectstore/program"
)

// storageEnv makes the test binary the storage program. "hang" makes it one that hangs, once it has
// made the file that hangsEnv names.
const (
	storageEnv = "SEI_TEST_STORAGE"
	hangsEnv   = "SEI_TEST_STORAGE_HANGS"
)

func TestMain(m *testing.M) {
	switch os.Getenv(storageEnv) {
	case "":
		os.Exit(m.Run())
	case "hang":
		if err := os.WriteFile(os.Getenv(hangsEnv), nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		time.Sleep(time.Hour) //nolint:forbidigo // until it is ended
	case "die":
		fmt.Fprintln(os.Stderr, "fatal error: out of memory")
		os.Exit(2)
	}
	if err := program.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "some SDK: a warning")
		fmt.Fprintln(os.Stderr, program.Failure(err))
		os.Exit(1)
	}
}

func open(t *testing.T, how, address string) *objectstore.Bucket {
	t.Helper()
	t.Setenv(storageEnv, how)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	store, err := program.Opener(self)(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return &objectstore.Bucket{Store: store}
}

func TestBucket_WhatWasPutComesBack(t *testing.T) {
	b := open(t, "serve", "file://"+t.TempDir())
	payload := make([]byte, 3<<20)
	if _, err := rand.Read(payload); err != nil {
		t.Fatal(err)
	}
	if err := b.PutLarge(t.Context(), "chain/7.tar.gz", "application/gzip", bytes.NewReader(payload), int64(len(payload))); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), "chain/empty", "text/plain", strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	at, err := b.Stat(t.Context(), "chain/7.tar.gz")
	if err != nil || at.Size != int64(len(payload)) || at.ETag == "" || at.ModTime.IsZero() {
		t.Errorf("Stat = %+v, %v, want %d bytes with an ETag and a time", at, err, len(payload))
	}
	for _, offset := range []int{0, 7, len(payload)} {
		r, err := b.GetFrom(t.Context(), "chain/7.tar.gz", int64(offset))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, payload[offset:]) {
			t.Errorf("from %d: %d bytes, %v, want the last %d of what was put", offset, len(got), err, len(payload)-offset)
		}
	}
	sizes := map[string]int64{}
	err = b.List(t.Context(), "chain/", func(o objectstore.Object) error { sizes[o.Key] = o.Size; return nil })
	if diff := cmp.Diff(map[string]int64{"chain/7.tar.gz": 3 << 20, "chain/empty": 0}, sizes); diff != "" || err != nil {
		t.Errorf("listing (-want +got):\n%s%v", diff, err)
	}
	stop := errors.New("enough")
	if err := b.List(t.Context(), "", func(objectstore.Object) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a visit that fails: %v, want %v", err, stop)
	}
	r, err := b.Get(t.Context(), "chain/7.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil { // of the rest nothing is wanted
		t.Error(err)
	}
	for range 2 {
		if err := b.Delete(t.Context(), "chain/empty"); err != nil {
			t.Errorf("deleting: %v, want no error", err)
		}
	}
	if _, err := b.Stat(t.Context(), "chain/empty"); objectstore.KindOf(err) != objectstore.KindNotFound {
		t.Errorf("a deleted object: %v, want kind %s", err, objectstore.KindNotFound)
	}
}

func TestBucket_ErrorsAreThoseOfTheDriver(t *testing.T) {
	b := open(t, "serve", "file://"+t.TempDir()+"?metadata=skip")
	_, statErr := b.Stat(t.Context(), "none")
	_, getErr := b.Get(t.Context(), "none")
	for _, err := range []error{statErr, getErr} {
		if objectstore.KindOf(err) != objectstore.KindNotFound || strings.Contains(err.Error(), "metadata") || !strings.Contains(err.Error(), "[hint: ") {
			t.Errorf("a missing object: %v, want kind %s with a hint and without the address's query", err, objectstore.KindNotFound)
		}
	}
	for address, kind := range map[string]objectstore.Kind{"no-scheme": objectstore.KindInvalid, "file:///no/such": objectstore.KindUnavailable} {
		err := open(t, "serve", address).Put(t.Context(), "k", "text/plain", strings.NewReader("x"))
		if objectstore.KindOf(err) != kind {
			t.Errorf("%s: %v, want kind %s", address, err, kind)
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

func TestPut_WhenTheSourceBreaks_LeavesNoObject(t *testing.T) {
	dir := t.TempDir()
	b := open(t, "serve", "file://"+dir)
	err := b.Put(t.Context(), "half", "text/plain", &brokenReader{strings.NewReader("first half")})
	if err == nil || !strings.Contains(err.Error(), "the disk fell over") {
		t.Errorf("Put = %v, want the source's error", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v was left behind, %v; want nothing", left, err)
	}
}

// A sidecar that is killed closes the pipe in the middle of what it writes.
func TestServe_InputThatIsCutOff_LeavesNoObject(t *testing.T) {
	dir := t.TempDir()
	input := fmt.Sprintf(`{"op":"put","address":"file://%s","key":"half"}`+"\n5\r\nfirst\r\n", dir)
	if err := program.Serve(t.Context(), strings.NewReader(input), io.Discard); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Serve = %v, want %v", err, io.ErrUnexpectedEOF)
	}
	if err := program.Serve(t.Context(), strings.NewReader(input+"0\r\n"), io.Discard); err != nil {
		t.Errorf("Serve = %v with the last chunk, want no error", err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "half")); string(data) != "first" {
		t.Errorf("the object is %q, %v, want %q", data, err, "first")
	}
}

func TestBucket_AProgramThatDoesNotAnswer_IsANamedError(t *testing.T) {
	dead := open(t, "die", "file:///b")
	_, err := dead.Get(t.Context(), "k")
	if objectstore.KindOf(err) != objectstore.KindOther || !strings.Contains(err.Error(), "reading file:///b/k: running the storage program: exit status 2: fatal error: out of memory") {
		t.Errorf("a program that dies: %v, want kind %s with its last words", err, objectstore.KindOther)
	}
	missing, err := program.Opener("/no/such/program")(t.Context(), "file:///b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := missing.Stat(t.Context(), "k"); objectstore.KindOf(err) != objectstore.KindOther || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("a program that is not there: %v, want kind %s with its name", err, objectstore.KindOther)
	}
}

func TestBucket_AProgramThatHangs_EndsWithTheCall(t *testing.T) {
	for name, c := range map[string]struct {
		ends error
		is   func(error) bool
		want string
	}{
		"called off": {context.Canceled, func(err error) bool { return errors.Is(err, context.Canceled) }, "that it was called off"},
		"too long": {
			context.DeadlineExceeded, func(err error) bool { return objectstore.KindOf(err) == objectstore.KindUnavailable },
			"kind " + string(objectstore.KindUnavailable),
		},
	} {
		t.Run(name, func(t *testing.T) {
			hangs := filepath.Join(t.TempDir(), "hangs")
			t.Setenv(hangsEnv, hangs)
			hung, call := open(t, "hang", "file:///b"), &ending{Context: t.Context(), done: make(chan struct{}), err: c.ends}
			answered := make(chan error, 1)
			go func() {
				_, err := hung.Stat(call, "k")
				answered <- err
			}()
			awaitFile(t, hangs, answered)
			close(call.done)
			if err := <-answered; !c.is(err) {
				t.Errorf("Stat = %v, want %s", err, c.want)
			}
		})
	}
}

// ending is a context that ends when a test wants it to, and why.
type ending struct {
	context.Context //nolint:containedctx // it is one
	done            chan struct{}
	err             error
}

// Done implements context.Context.
func (e *ending) Done() <-chan struct{} { return e.done }

// Err implements context.Context.
func (e *ending) Err() error {
	select {
	case <-e.done:
		return e.err
	default:
		return nil
	}
}

// awaitFile waits until the program has made a file. The deadline is for a test that would hang.
func awaitFile(t *testing.T, file string, answered <-chan error) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(file); err == nil {
			return
		}
		select {
		case <-tick.C:
		case err := <-answered:
			t.Fatalf("the call has ended with %v, want a program that hangs", err)
		case <-deadline:
			t.Fatal("the program has not started within a minute")
		}
	}
}
