package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// StateWithoutBlocks reports whether there is state and nothing that goes with it in the block
// store: a state sync writes the snapshot's state first and its last commit in the end, and
// one that was interrupted in between leaves this. Only the default places are looked at.
func (d Dir) StateWithoutBlocks() (bool, error) {
	blocks := d.Path("data", "blockstore.db")
	if _, err := os.Stat(blocks); errors.Is(err, fs.ErrNotExist) {
		return false, nil // elsewhere, or seid was never started
	} else if err != nil {
		return false, fmt.Errorf("looking for blocks: %w", err)
	}
	written, err := hasContent(blocks, isTableFile)
	if err != nil || written {
		return false, err
	}
	if committed, err := d.hasCommittedState(); err != nil || committed {
		return committed, err
	}
	for _, name := range stateStoreDirs {
		if written, err := hasContent(d.Path("data", name), isStoreFile); err != nil || written {
			return written, err
		}
	}
	return false, nil
}
