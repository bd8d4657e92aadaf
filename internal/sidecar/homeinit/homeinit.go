// Package homeinit makes a node's home directory usable before anything else
// runs in the pod. It adds what is missing and never changes what is there,
// apart from the keyring setting it is told to write.
package homeinit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"

	homedir "github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

const (
	stagingDir = ".sei-init"
	// finishedMark in the staging directory says that seid was done with it, so
	// that the files in it are whole.
	finishedMark = "finished"
	stagedHome   = "home"
	// dirMode lets the pod's other containers, which share its group, look in.
	dirMode = 0o750
	// keyringMode is that of the chain itself.
	keyringMode = 0o700
	// genesisFile is moved in last: a home that has one is complete.
	genesisFile = "config/genesis.json"
)

// Home is what to make of a directory.
type Home struct {
	Dir     string
	ChainID string
	Moniker string
	// Seid is the chain binary to run.
	Seid string
	// KeyringBackend is written to client.toml unless it is empty.
	KeyringBackend string
	Log            *slog.Logger
}

// Prepare leaves a complete home behind, whatever it finds: nothing, a complete
// home, or one that an earlier call was killed over.
func (h Home) Prepare(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(h.Dir, "tmp"), dirMode); err != nil {
		return fmt.Errorf("creating the home directory: %w", err)
	}
	complete, err := durable.Exists(h.path(genesisFile))
	if err != nil {
		return err
	}
	if complete {
		h.Log.Info("home is initialised already", "home", h.Dir)
	} else if err := h.initialise(ctx); err != nil {
		return err
	}
	if err := durable.Remove(h.path(stagingDir)); err != nil {
		return err
	}
	if h.KeyringBackend == "" {
		return nil
	}
	// In seid's container it is covered, and a container runtime that has to make a place for the cover
	// leaves it to root.
	if err := os.MkdirAll(homedir.Dir(h.Dir).KeyringTest(), keyringMode); err != nil {
		return fmt.Errorf("making a place for keys: %w", err)
	}
	return setKeyringBackend(h.path("config/client.toml"), h.KeyringBackend)
}

func (h Home) initialise(ctx context.Context) error {
	staged, err := durable.Exists(h.path(stagingDir, finishedMark))
	if err != nil {
		return err
	}
	if !staged {
		if err := h.refuseForeignData(); err != nil {
			return err
		}
		if err := h.stage(ctx); err != nil {
			return err
		}
	}
	return h.moveIn()
}

// refuseForeignData keeps us from giving a fresh identity to somebody's chain
// data: without its genesis such a home was not made by us or was damaged.
func (h Home) refuseForeignData() error {
	entries, err := os.ReadDir(h.path("data"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking at the home: %w", err)
	}
	for _, e := range entries {
		if e.Name() != "priv_validator_state.json" {
			return fmt.Errorf("initialising %s: it has data (%s) but no %s; put the genesis file back or empty the volume",
				h.Dir, filepath.Join("data", e.Name()), genesisFile)
		}
	}
	return nil
}

// stage runs seid init in a directory of its own on the home's volume.
func (h Home) stage(ctx context.Context) error {
	if err := durable.Remove(h.path(stagingDir)); err != nil {
		return err
	}
	home := h.path(stagingDir, stagedHome)
	if err := os.MkdirAll(home, dirMode); err != nil {
		return fmt.Errorf("making room for seid init: %w", err)
	}
	//nolint:gosec // the binary and its arguments come from the pod's own settings
	cmd := exec.CommandContext(ctx, h.Seid, "init", h.Moniker, "--chain-id", h.ChainID, "--home", home)
	// seid prints the whole genesis; that is worth showing only when it fails.
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running seid init: %w: %s", err, out[max(0, len(out)-2000):])
	}
	if made, err := durable.Exists(filepath.Join(home, genesisFile)); err != nil || !made {
		return errors.Join(fmt.Errorf("running seid init: it made no %s", genesisFile), err)
	}
	if err := syncTree(home); err != nil {
		return err
	}
	return durable.WriteFile(h.path(stagingDir, finishedMark), nil, 0o600)
}

func (h Home) path(parts ...string) string {
	return filepath.Join(append([]string{h.Dir}, parts...)...)
}
