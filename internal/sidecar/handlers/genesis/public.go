package genesis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/seid/publicchain"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// fetchPublic gets the genesis of a public chain: from the binary, which carries it since
// v6.4, or else from the bucket. Older binaries make up a genesis under the chain's id;
// what comes out is always compared with what is known of the chain.
func (t *Tasks) fetchPublic(ctx context.Context, scratch, file string) (fetched, source string, err error) {
	if err := t.initHome(ctx, scratch, "genesis"); err != nil {
		return "", "", err
	}
	embedded := filepath.Join(scratch, "config", genesisFile)
	madeUp := t.checkPublic(embedded)
	if madeUp == nil {
		return embedded, "embedded", nil
	}
	if t.Node.GenesisBucket == "" {
		return "", "", api.Terminal(api.CodePrecondition, fmt.Errorf(
			"this seid does not carry the genesis of %s (%w), and no genesis bucket is configured", t.Node.ChainID, madeUp)).
			WithHint("use an image of v6.4 or later, put the genesis into a bucket, or pass it to the task")
	}
	if source, err = t.download(ctx, file); err != nil {
		return "", "", fmt.Errorf("this seid does not carry the genesis of %s (%w); fetching it: %w", t.Node.ChainID, madeUp, err)
	}
	if err := t.checkPublic(file); err != nil {
		return "", "", api.Terminal(api.CodeIntegrity, fmt.Errorf("%s: %w", source, err)).
			WithHint("put the published genesis of %s into the bucket", t.Node.ChainID)
	}
	return file, source, nil
}

func (t *Tasks) checkPublic(file string) error {
	f, err := os.Open(file) //nolint:gosec // a file of the node's home
	if err != nil {
		return fmt.Errorf("reading the genesis: %w", err)
	}
	defer func() { _ = f.Close() }()
	return publicchain.Check(t.Node.ChainID, f)
}

// settled decides about a genesis that is there already and has other bytes, for a public
// chain: another spelling of the same genesis stays, and one that seid made up goes, even
// if a node has blocks beside it, because no chain can begin with it.
func (t *Tasks) settled(current, fetched string) (keep, replace bool) {
	if !publicchain.Known(t.Node.ChainID) || t.checkPublic(fetched) != nil {
		return false, false
	}
	err := t.checkPublic(current)
	return err == nil, errors.Is(err, publicchain.ErrUnknownToSeid)
}
