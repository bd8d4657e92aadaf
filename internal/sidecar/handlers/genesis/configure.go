package genesis

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid/publicchain"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
)

const (
	genesisMark = "genesis"
	genesisFile = "genesis.json"
	// maxInline bounds what a compressed parameter may unfold to.
	maxInline = 256 << 20
)

// configure puts the genesis in place. The new file is fetched beside the old
// one, checked, and renamed: the home has a whole genesis at any time. A repeat
// fetches and compares again, so there is no record that could be wrong.
func (t *Tasks) configure(ctx context.Context, _ engine.Task, p wire.ConfigureGenesis) (any, error) {
	scratch, cleanup, err := t.Node.Scratch("genesis")
	if err != nil {
		return nil, err
	}
	defer cleanup()
	file, source, err := t.fetch(ctx, scratch, p)
	if err != nil {
		return nil, err
	}
	hash, err := hashFile(file)
	if err != nil {
		return nil, err
	}
	if want := strings.ToLower(p.ExpectedGenesisHash); want != "" && want != hash {
		return nil, api.Terminal(api.CodeIntegrity, fmt.Errorf("verify-hash: genesis.json from %s has SHA-256 %s, expected %s", source, hash, want)).
			WithHint("the genesis is not the one this network was made with; check who wrote it")
	}
	if err := t.checkChainOf(file); err != nil {
		return nil, err
	}
	if hash, err = t.install(file, hash); err != nil {
		return nil, err
	}
	return wire.ConfiguredGenesis{GenesisHash: hash, Source: source}, t.Node.Mark(genesisMark)
}

// fetch puts the genesis into scratch and says where it came from.
func (t *Tasks) fetch(ctx context.Context, scratch string, p wire.ConfigureGenesis) (file, source string, err error) {
	file = filepath.Join(scratch, "fetched.json")
	switch {
	case p.Genesis != "":
		data, err := unpackGenesis(p.Genesis)
		if err != nil {
			return "", "", invalid("genesis", err)
		}
		return file, "inline", durable.WriteFile(file, data, 0o644)
	case publicchain.Known(t.Node.ChainID):
		return t.fetchPublic(ctx, scratch, file)
	default:
		source, err := t.download(ctx, file)
		return file, source, err
	}
}

func (t *Tasks) download(ctx context.Context, file string) (string, error) {
	bucket, err := node.Bucket(ctx, t.Node.GenesisBucket, "genesis bucket")
	if err != nil {
		return "", err
	}
	defer func() { _ = bucket.Close() }()
	key := t.key(genesisFile)
	object, err := bucket.Get(ctx, key)
	if err != nil {
		return "", node.BucketError(err)
	}
	defer func() { _ = object.Close() }()
	err = durable.Write(file, 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, object)
		return err
	})
	return bucket.Address(key), node.BucketError(err)
}

// install renames the new genesis into place and gives the hash of what is there then.
// A node that has blocks keeps its genesis: with another one it would be on another chain.
func (t *Tasks) install(file, hash string) (string, error) {
	target := t.Node.Home.Genesis()
	current, err := hashFile(target)
	if err == nil && current == hash {
		return hash, nil
	}
	keep, replace := t.settled(target, file)
	if keep {
		return current, nil
	}
	started, err := durable.Exists(t.Node.Home.Path("data", "blockstore.db"))
	if err != nil {
		return "", err
	}
	if started && !replace {
		return "", api.Terminal(api.CodePrecondition, errors.New("the node has blocks of a chain with another genesis")).
			WithHint("to join the chain of the new genesis, run reset-data first")
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return "", fmt.Errorf("making the configuration directory: %w", err)
	}
	return hash, syncAndRename(file, target)
}

func syncAndRename(from, to string) error {
	f, err := os.Open(from) //nolint:gosec // a file of the node's home
	if err != nil {
		return fmt.Errorf("installing %s: %w", filepath.Base(to), err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("installing %s: %w", filepath.Base(to), err)
	}
	return durable.Rename(from, to)
}

func hashFile(file string) (string, error) {
	f, err := os.Open(file) //nolint:gosec // a file of the node's home
	if err != nil {
		return "", fmt.Errorf("hashing the genesis: %w", err)
	}
	defer func() { _ = f.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", fmt.Errorf("hashing the genesis: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// checkChainOf refuses a genesis of another chain. The file may be large, so it
// is walked, not loaded.
func (t *Tasks) checkChainOf(file string) error {
	f, err := os.Open(file) //nolint:gosec // a file of the node's home
	if err != nil {
		return fmt.Errorf("reading the genesis: %w", err)
	}
	defer func() { _ = f.Close() }()
	chain, err := topLevelString(json.NewDecoder(f), "chain_id")
	if err != nil {
		return api.Terminal(api.CodeIntegrity, fmt.Errorf("reading the genesis: %w", err))
	}
	if chain != t.Node.ChainID {
		return api.Terminal(api.CodeIntegrity, fmt.Errorf("the genesis is of chain %q, this node is on %q", chain, t.Node.ChainID))
	}
	return nil
}

// topLevelString reads a whole JSON object and gives the value of one of its
// top-level keys.
func topLevelString(dec *json.Decoder, key string) (string, error) {
	var found string
	depth, expectKey, current := 0, false, ""
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) && depth == 0 {
			break
		}
		if err != nil {
			return "", fmt.Errorf("not valid JSON: %w", err)
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
			expectKey = depth == 1
			continue
		case string:
			if depth == 1 && expectKey {
				current, expectKey = v, false
				continue
			}
			if depth == 1 && current == key {
				found = v
			}
		}
		expectKey = depth == 1
	}
	if found == "" {
		return "", fmt.Errorf("there is no %s", key)
	}
	return found, nil
}

// exportGenesis hands out the genesis this node has, so that others can be given the same.
func (t *Tasks) exportGenesis(_ context.Context, _ engine.Task, p wire.ExportGenesis) (any, error) {
	data, hash, err := readHashed(t.Node.Home.Genesis())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, api.Terminal(api.CodePrecondition, err).WithHint("run configure-genesis first")
	}
	if err != nil {
		return nil, err
	}
	if want := strings.ToLower(p.ExpectedGenesisHash); want != "" && want != hash {
		return nil, api.Terminal(api.CodePrecondition, fmt.Errorf("the genesis of this node has SHA-256 %s, not %s", hash, want))
	}
	packed, err := packGenesis(data)
	if err != nil {
		return nil, err
	}
	return wire.ExportedGenesis{Genesis: packed, GenesisHash: hash}, nil
}

func packGenesis(data []byte) (string, error) {
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return "", fmt.Errorf("compressing the genesis: %w", err)
	}
	_, err = zipped.Write(data)
	if err := errors.Join(err, zipped.Close()); err != nil {
		return "", fmt.Errorf("compressing the genesis: %w", err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}

func unpackGenesis(packed string) ([]byte, error) {
	zipped, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		return nil, fmt.Errorf("is not gzip in base64: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(zipped, maxInline+1))
	if err != nil {
		return nil, fmt.Errorf("is not gzip in base64: %w", err)
	}
	if len(data) > maxInline {
		return nil, fmt.Errorf("decompresses to more than %d bytes", maxInline)
	}
	return data, nil
}
