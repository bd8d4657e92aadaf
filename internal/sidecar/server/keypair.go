package server

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// keyPairReadEvery is how often the files are read at most, however many clients there are.
const keyPairReadEvery = time.Second

// KeyPair is a certificate from files that are replaced while the process runs, as the kubelet does
// with a mounted Secret. What cannot be used does not take the place of what can.
type KeyPair struct {
	// Read gives the content of a file.
	Read  func(name string) ([]byte, error)
	Log   *slog.Logger
	Clock clock.PassiveClock

	mu          sync.Mutex
	readAt      time.Time
	certificate []byte
	key         []byte
	held        *tls.Certificate
	err         error
}

// FilesIn reads the files of a folder.
func FilesIn(dir string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // the folder is a setting, the names are ours
	}
}

// Get is for a tls.Config.
func (k *KeyPair) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.Clock.Now(); k.readAt.IsZero() || now.Sub(k.readAt) >= keyPairReadEvery {
		k.readAt = now
		k.note(k.read())
	}
	if k.held == nil {
		return nil, k.err
	}
	return k.held, nil
}

// read takes up what the files hold, if it is new.
func (k *KeyPair) read() error {
	certificate, err := k.Read(api.FileCertificate)
	if err != nil {
		return fmt.Errorf("reading the certificate: %w", err)
	}
	key, err := k.Read(api.FileKey)
	if err != nil {
		return fmt.Errorf("reading the certificate's key: %w", err)
	}
	if k.held != nil && bytes.Equal(certificate, k.certificate) && bytes.Equal(key, k.key) {
		return nil
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return fmt.Errorf("using the certificate: %w", err)
	}
	k.held, k.certificate, k.key = &pair, certificate, key
	k.Log.Info("certificate", "names", pair.Leaf.DNSNames, "notAfter", pair.Leaf.NotAfter)
	return nil
}

// note logs a failure once.
func (k *KeyPair) note(err error) {
	if err != nil && (k.err == nil || err.Error() != k.err.Error()) {
		k.Log.Warn("no new certificate", "error", err.Error(), "serving", k.held != nil)
	}
	k.err = err
}
