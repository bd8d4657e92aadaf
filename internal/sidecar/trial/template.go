package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// templateFiles are what a home needs beside its configuration.
var templateFiles = []string{
	"config/genesis.json", "config/node_key.json", "config/priv_validator_key.json", "data/priv_validator_state.json",
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._+-]`)

func own(home string, names ...string) string {
	return filepath.Join(append([]string{home, ".sei-sidecar"}, names...)...)
}

const templatePrefix = "trial-"

// template gives a home with a chain of one validator, made by seid itself. There is one
// for each version, which stays on the volume: making it takes longer than a trial.
func template(ctx context.Context, home, binary, version string) (string, error) {
	name := templatePrefix + notInNames.ReplaceAllString(version, "_")
	dir := own(home, name)
	if ready, err := durable.Exists(filepath.Join(dir, templateFiles[0])); ready || err != nil {
		return dir, err
	}
	if err := forgetOthers(home, name); err != nil {
		return "", err
	}
	work, err := durable.TempDir(own(home), name)
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }() // what is left of it
	if err := ceremony(ctx, seidcmd.Runner{Path: binary}, work); err != nil {
		return "", err
	}
	done := filepath.Join(work, "done")
	if err := copyTemplate(work, done); err != nil {
		return "", err
	}
	return dir, durable.Swap(done, dir)
}

// forgetOthers deletes the templates of other versions, and what killed runs left.
func forgetOthers(home, name string) error {
	entries, err := os.ReadDir(own(home))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for earlier templates: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), templatePrefix) && e.Name() != name {
			if err := durable.Remove(own(home, e.Name())); err != nil {
				return err
			}
		}
	}
	return durable.Sweep(own(home), name)
}

// ceremony makes a chain that is never run for longer than a moment.
func ceremony(ctx context.Context, seid seidcmd.Runner, dir string) error {
	const key, balance, stake = "validator", "1000000000usei", "100000000usei"
	keyring := []string{"--keyring-backend", "test", "--home", dir}
	for _, call := range []seidcmd.Call{
		{Args: []string{"init", "trial", "--chain-id", config.TrialChainID, "--home", dir}},
		// It prints the mnemonic.
		{Args: append([]string{"keys", "add", key}, keyring...), Quiet: true},
		{Args: append([]string{"add-genesis-account", key, balance}, keyring...)},
		{Args: append([]string{"gentx", key, stake, "--chain-id", config.TrialChainID, "--ip", "127.0.0.1"}, keyring...)},
		{Args: []string{"collect-gentxs", "--home", dir}},
	} {
		if _, err := seid.Run(ctx, call); err != nil {
			return fmt.Errorf("making a chain for trial starts: %w", err)
		}
	}
	return nil
}

func copyTemplate(from, to string) error {
	for _, name := range templateFiles {
		data, err := os.ReadFile(filepath.Join(from, name)) //nolint:gosec // a fixed list below our own directory
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o750)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), data, 0o600) //nolint:gosec // a fixed list below our own directory
		}
		if err != nil {
			return fmt.Errorf("copying the chain for trial starts: %w", err)
		}
	}
	return nil
}
