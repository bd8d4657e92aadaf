package fleet

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxGenesis bounds what a compressed genesis may unpack to.
const maxGenesis = 256 << 20

// GenesisFile is what the operator has to know of a genesis.
type GenesisFile struct {
	// Hash is the SHA-256 of the file.
	Hash string
	// Validators are the consensus addresses of the chain's first validators; empty when the
	// file does not list them.
	Validators []string
}

// ReadGenesis reads a compressed genesis. The file may be large, so it is walked, not loaded.
func ReadGenesis(packed []byte) (GenesisFile, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return GenesisFile{}, fmt.Errorf("unpacking the genesis: %w", err)
	}
	sum := sha256.New()
	file := io.TeeReader(io.LimitReader(zipped, maxGenesis), sum)
	validators, _ := findValidators(json.NewDecoder(file)) // the hash decides what it is worth
	if _, err := io.Copy(io.Discard, file); err != nil {
		return GenesisFile{}, fmt.Errorf("unpacking the genesis: %w", err)
	}
	return GenesisFile{Hash: hex.EncodeToString(sum.Sum(nil)), Validators: validators}, nil
}

var errNoObject = errors.New("the genesis is not a JSON object")

// findValidators reads the addresses of the top-level list of validators.
func findValidators(dec *json.Decoder) ([]string, error) {
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.Join(errNoObject, err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("reading the genesis: %w", err)
		}
		if key != "validators" {
			if err := skipValue(dec); err != nil {
				return nil, err
			}
			continue
		}
		var list []struct {
			Address string `json:"address"`
		}
		if err := dec.Decode(&list); err != nil {
			return nil, fmt.Errorf("reading the validators of the genesis: %w", err)
		}
		addresses := make([]string, 0, len(list))
		for _, v := range list {
			addresses = append(addresses, v.Address)
		}
		return addresses, nil
	}
	return nil, nil
}

func skipValue(dec *json.Decoder) error {
	for depth := 0; ; {
		token, err := dec.Token()
		if err != nil {
			return fmt.Errorf("reading the genesis: %w", err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
