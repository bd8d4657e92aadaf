package gov

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid/home"
)

// Keyring says where the operator's keys are and how to open them.
type Keyring struct {
	// Backend is test, file or os; empty means there is none.
	Backend string
	// Dir holds the keyring's directory; empty means the home.
	Dir string
	// Passphrase opens a file keyring. It reaches the binary by standard input.
	Passphrase string
	// PassphraseFile holds it instead. It is read for every signature: who changes the keyring changes
	// it with it, and between signatures this process does not have it.
	PassphraseFile string
}

// flags name the keyring to the binary, which appends the backend's own
// directory name to the one it is given.
func (k Keyring) flags(nodeHome home.Dir) []string {
	dir := filepath.Clean(cmp.Or(k.Dir, string(nodeHome)))
	if base := filepath.Base(dir); base == "keyring-"+k.Backend {
		dir = filepath.Dir(dir)
	}
	return []string{"--keyring-backend", k.Backend, "--keyring-dir", dir}
}

// stdin answers every question for the passphrase that a command may ask.
func (k Keyring) stdin() (string, error) {
	passphrase := k.Passphrase
	if k.PassphraseFile != "" {
		content, err := os.ReadFile(k.PassphraseFile)
		if err != nil {
			return "", fmt.Errorf("reading the passphrase of the keyring: %w", err)
		}
		passphrase = strings.TrimSpace(string(content))
	}
	if passphrase == "" {
		return "", nil
	}
	return strings.Repeat(passphrase+"\n", 4), nil
}
