package genesis

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"
)

// document is a genesis file as a tree. Numbers keep their digits.
type document map[string]any

func parseDocument(data []byte) (document, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var doc document
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("parsing the genesis: %w", err)
	}
	return doc, nil
}

// encode gives the same bytes for the same document: keys are sorted.
func (d document) encode() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("encoding the genesis: %w", err)
	}
	return out.Bytes(), nil
}

// setTime starts the chain, and its first epoch, at one time; the binary puts
// the time of its run there.
func (d document) setTime(at time.Time) {
	text := at.Format(time.RFC3339Nano)
	d["genesis_time"] = text
	epoch, _ := lookup(d, "app_state", "epoch", "epoch").(map[string]any)
	for _, field := range []string{"genesis_time", "current_epoch_start_time"} {
		if _, there := epoch[field]; there {
			epoch[field] = text
		}
	}
}

// consensusParams is the one part outside the modules that overrides may reach.
const consensusParams = "consensus_params"

// override replaces leaves. Paths are applied in order, so a parent comes before
// its children.
func (d document) override(overrides map[string]json.RawMessage) error {
	appState, ok := d["app_state"].(map[string]any)
	if !ok {
		return fmt.Errorf("the genesis has no app_state")
	}
	for _, path := range slices.Sorted(maps.Keys(overrides)) {
		root := appState
		segments := strings.Split(path, ".")
		if segments[0] == consensusParams {
			root = d
		}
		value, err := decodeValue(overrides[path])
		if err != nil {
			return invalid("overrides["+path+"]", err)
		}
		if err := setLeaf(root, segments, value); err != nil {
			return invalid("overrides["+path+"]", err)
		}
	}
	return nil
}

func decodeValue(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("is not valid JSON: %w", err)
	}
	return value, nil
}

func setLeaf(root map[string]any, segments []string, value any) error {
	if _, known := root[segments[0]]; !known {
		return fmt.Errorf("there is no module %q; there are %s", segments[0], strings.Join(slices.Sorted(maps.Keys(root)), ", "))
	}
	at := root
	for i, segment := range segments[:len(segments)-1] {
		next, there := at[segment]
		if !there || next == nil {
			next = map[string]any{}
			at[segment] = next
		}
		object, ok := next.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is not an object", strings.Join(segments[:i+1], "."))
		}
		at = object
	}
	at[segments[len(segments)-1]] = value
	return nil
}

// powerReduction is how many tokens make one unit of voting power.
var powerReduction = big.NewInt(1_000_000)

// setValidators writes the top-level validators. A chain with one validator
// never starts without them: it would wait for peers that cannot exist.
func (d document) setValidators(txs []gentx) error {
	if limit := d.maxValidators(); limit > 0 && int64(len(txs)) > limit {
		return invalid("gentxs", fmt.Errorf("there are %d validators, the chain allows %d (staking.params.max_validators)", len(txs), limit))
	}
	list := make([]any, 0, len(txs))
	for i, tx := range txs {
		power := new(big.Int).Quo(tx.Tokens, powerReduction)
		if power.Sign() == 0 {
			return invalid(fmt.Sprintf("gentxs[%d]", i), fmt.Errorf("a stake of %s is less than one unit of power (%s)", tx.Tokens, powerReduction))
		}
		sum := sha256.Sum256(tx.ConsensusKey)
		list = append(list, map[string]any{
			"address": strings.ToUpper(hex.EncodeToString(sum[:20])),
			"name":    tx.Moniker,
			"power":   power.String(),
			"pub_key": map[string]any{"type": "tendermint/PubKeyEd25519", "value": base64.StdEncoding.EncodeToString(tx.ConsensusKey)},
		})
	}
	d["validators"] = list
	return nil
}

func (d document) maxValidators() int64 {
	value := lookup(d, "app_state", "staking", "params", "max_validators")
	number, ok := value.(json.Number)
	if !ok {
		return 0
	}
	n, err := number.Int64()
	if err != nil {
		return 0
	}
	return n
}

// associate tells the EVM side which addresses belong to the validators' keys.
// Chains without that module need nothing.
func (d document) associate(txs []gentx) error {
	evm, ok := lookup(d, "app_state", "evm").(map[string]any)
	if !ok {
		return nil
	}
	list, _ := evm["address_associations"].([]any)
	for _, tx := range txs {
		address, err := evmAddress(tx.AccountKey)
		if err != nil {
			return fmt.Errorf("deriving the EVM address of %s: %w", tx.Delegator, err)
		}
		list = append(list, map[string]any{"sei_address": tx.Delegator, "eth_address": address})
	}
	evm["address_associations"] = list
	return nil
}

func lookup(at any, path ...string) any {
	for _, segment := range path {
		object, ok := at.(map[string]any)
		if doc, isDoc := at.(document); isDoc {
			object, ok = doc, true
		}
		if !ok {
			return nil
		}
		at = object[segment]
	}
	return at
}
