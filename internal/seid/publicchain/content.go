package publicchain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// maxFile is more than any public chain's genesis has; reading stops there.
const maxFile = 16 << 20

// Content is what two files of one genesis have in common. seid reads and writes the
// file again, with other spaces, an order of keys of its own and fields that its version
// added, so that the bytes of two right files may differ.
type Content struct {
	ChainID string
	// Digest covers the time, the first height, the validators and the state of the
	// application.
	Digest string
	// Empty: nobody can make a block, there is neither a validator nor a transaction
	// that makes one. It is what `seid init` writes for a chain it does not know.
	Empty bool
}

type file struct {
	ChainID       string          `json:"chain_id"`
	Time          time.Time       `json:"genesis_time"`
	InitialHeight json.RawMessage `json:"initial_height"`
	Validators    []any           `json:"validators"`
	AppState      map[string]any  `json:"app_state"`
}

// Read finds out what is in a genesis file.
func Read(r io.Reader) (Content, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return Content{}, fmt.Errorf("reading the genesis: %w", err)
	}
	if len(data) > maxFile {
		return Content{}, fmt.Errorf("reading the genesis: it is larger than %d bytes, which no public chain's is", maxFile)
	}
	var f file
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&f); err != nil {
		return Content{}, fmt.Errorf("reading the genesis: %w", err)
	}
	digest, err := f.digest()
	if err != nil {
		return Content{}, err
	}
	return Content{ChainID: f.ChainID, Digest: digest, Empty: f.empty()}, nil
}

// digest is over JSON whose keys are in order.
func (f file) digest() (string, error) {
	validators := f.Validators
	if len(validators) == 0 {
		validators = []any{}
	}
	raw, err := json.Marshal([]any{f.ChainID, f.Time.UTC().Format(time.RFC3339Nano), f.firstHeight(), validators, f.AppState})
	if err != nil {
		return "", fmt.Errorf("encoding the genesis: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// firstHeight is 1 when the file leaves it out.
func (f file) firstHeight() string {
	text := string(bytes.Trim(f.InitialHeight, `"`))
	if text == "" || text == "0" || text == "null" {
		return "1"
	}
	return text
}

func (f file) empty() bool {
	return len(f.Validators) == 0 && f.listLength("genutil", "gen_txs") == 0 && f.listLength("staking", "validators") == 0
}

func (f file) listLength(module, key string) int {
	table, _ := f.AppState[module].(map[string]any)
	list, _ := table[key].([]any)
	return len(list)
}
