package homeinit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"

	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// KeyringBackends are the values that client.toml may hold.
var KeyringBackends = []string{"test", "file", "os"}

var keyringLine = regexp.MustCompile(`(?m)^[ \t]*keyring-backend[ \t]*=.*$`)

// setKeyringBackend writes one setting and leaves every other byte alone,
// comments included.
func setKeyringBackend(path, backend string) error {
	old, err := os.ReadFile(path) //nolint:gosec // in the home we were given
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading client.toml: %w", err)
	}
	line := fmt.Appendf(nil, "keyring-backend = %q", backend)
	var updated []byte
	if keyringLine.Match(old) {
		updated = keyringLine.ReplaceAllLiteral(old, line)
	} else {
		// In front, because at the end it could fall into a table.
		updated = append(append(line, '\n'), old...)
	}
	if bytes.Equal(old, updated) {
		return nil
	}
	return durable.WriteFile(path, updated, 0o644)
}
