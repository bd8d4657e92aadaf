package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/permissions"
)

// writeUses leaves what the operator has asked of the API server since a time where test/permissions compares it with
// the roles. Only the stage e2e asks for it: a run of some scenarios uses less.
func (c *cluster) writeUses(since time.Time) error {
	folder := os.Getenv(envtest.UsesVariable)
	if folder == "" {
		return nil
	}
	// The API server begins another file when one is full, and keeps those before beside it.
	files, err := filepath.Glob(filepath.Join(c.state, "audit", "audit*.log"))
	if err != nil {
		return fmt.Errorf("looking for the audit log: %w", err)
	}
	used := permissions.Uses{}
	for _, name := range files {
		if err := readAudit(used, name, since); err != nil {
			return err
		}
	}
	if len(used) == 0 {
		return errors.New("the audit log has nothing of the operator: it does not say which rights were used")
	}
	return used.Write(filepath.Join(folder, permissions.E2EFile), envtest.OnlySome())
}

func readAudit(used permissions.Uses, name string, since time.Time) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	return used.ReadAudit(file, operatorAccount, since)
}
