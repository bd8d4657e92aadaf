package genesis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// The key that owns the stake, and the keyring it lives in.
const (
	accountKeyName = "validator"
	keyringName    = "keyring-test"
	keyRecord      = accountKeyName + ".info"
)

// accountKey is the address of the account key, which is made when it is missing.
func (t *Tasks) accountKey(ctx context.Context) (string, error) {
	record := filepath.Join(t.Node.Home.KeyringTest(), keyRecord)
	there, err := durable.Exists(record)
	if err != nil {
		return "", err
	}
	if !there {
		if err := t.makeAccountKey(ctx); err != nil {
			return "", err
		}
	}
	// Every command of the binary writes default configuration into a home that
	// has none, so none is ever pointed at the node's own.
	scratch, cleanup, err := t.Node.Scratch("account")
	if err != nil {
		return "", err
	}
	defer cleanup()
	out, err := t.Node.Seid.Run(ctx, seidcmd.Call{Args: []string{
		"keys", "show", accountKeyName, "--address", "--keyring-backend", "test", "--keyring-dir", string(t.Node.Home), "--home", scratch,
	}})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// makeAccountKey makes the key in a scratch keyring and moves it over: as a whole
// into a home without a keyring, and otherwise the address file first, then the
// record that makes the key exist.
func (t *Tasks) makeAccountKey(ctx context.Context) error {
	scratch, cleanup, err := t.Node.Scratch("keyring")
	if err != nil {
		return err
	}
	defer cleanup()
	// Without a backup the binary prints no mnemonic; Quiet covers the rest.
	_, err = t.Node.Seid.Run(ctx, seidcmd.Call{Quiet: true, Args: []string{
		"keys", "add", accountKeyName, "--no-backup", "--keyring-backend", "test", "--keyring-dir", scratch, "--home", scratch,
	}})
	if err != nil {
		return err
	}
	made, ring := filepath.Join(scratch, keyringName), t.Node.Home.KeyringTest()
	if there, err := durable.Exists(ring); err != nil || !there {
		return errors.Join(err, durable.Rename(made, ring))
	}
	entries, err := os.ReadDir(made)
	if err != nil {
		return fmt.Errorf("reading the new keyring: %w", err)
	}
	for _, e := range entries {
		if e.Name() == keyRecord {
			continue
		}
		if err := durable.Rename(filepath.Join(made, e.Name()), filepath.Join(ring, e.Name())); err != nil {
			return err
		}
	}
	return durable.Rename(filepath.Join(made, keyRecord), filepath.Join(ring, keyRecord))
}

// addAccount adds an account to the genesis of a scratch home. The memory
// keyring keeps the binary from looking for the address's key.
func (t *Tasks) addAccount(ctx context.Context, home, address, balance string, flags ...string) error {
	args := append([]string{"add-genesis-account", address, balance, "--keyring-backend", "memory", "--home", home}, flags...)
	_, err := t.Node.Seid.Run(ctx, seidcmd.Call{Args: args})
	return err
}
