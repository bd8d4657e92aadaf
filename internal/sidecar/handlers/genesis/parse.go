package genesis

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
)

// gentx is what the assembler has to know of a genesis transaction.
type gentx struct {
	raw          json.RawMessage
	Delegator    string
	Validator    string
	Moniker      string
	ConsensusKey []byte
	Tokens       *big.Int
	// AccountKey is the compressed public key that signed.
	AccountKey []byte
}

const createValidator = "/cosmos.staking.v1beta1.MsgCreateValidator"

type gentxFile struct {
	Body struct {
		Messages []struct {
			Type        string `json:"@type"`
			Description struct {
				Moniker string `json:"moniker"`
			} `json:"description"`
			Delegator string     `json:"delegator_address"`
			Validator string     `json:"validator_address"`
			PubKey    encodedKey `json:"pubkey"`
			Value     struct {
				Denom  string `json:"denom"`
				Amount string `json:"amount"`
			} `json:"value"`
		} `json:"messages"`
		Memo string `json:"memo"`
	} `json:"body"`
	AuthInfo struct {
		SignerInfos []struct {
			PublicKey encodedKey `json:"public_key"`
		} `json:"signer_infos"`
	} `json:"auth_info"`
	Signatures []string `json:"signatures"`
}

type encodedKey struct {
	Type string `json:"@type"`
	Key  string `json:"key"`
}

// parseGentx reads a genesis transaction: exactly one message, which makes a
// validator, with a signature.
func parseGentx(data []byte) (gentx, error) {
	var file gentxFile
	if err := json.Unmarshal(data, &file); err != nil {
		return gentx{}, fmt.Errorf("parsing the gentx: %w", err)
	}
	if n := len(file.Body.Messages); n != 1 {
		return gentx{}, fmt.Errorf("parsing the gentx: it has %d messages, want one", n)
	}
	msg := file.Body.Messages[0]
	if msg.Type != createValidator {
		return gentx{}, fmt.Errorf("parsing the gentx: its message is %q, want %q", msg.Type, createValidator)
	}
	if len(file.Signatures) != 1 || len(file.AuthInfo.SignerInfos) != 1 || file.Signatures[0] == "" {
		return gentx{}, errors.New("parsing the gentx: it is not signed by exactly one key")
	}
	tx := gentx{Delegator: msg.Delegator, Validator: msg.Validator, Moniker: msg.Description.Moniker}
	tokens, ok := new(big.Int).SetString(msg.Value.Amount, 10)
	if !ok || tokens.Sign() <= 0 {
		return gentx{}, fmt.Errorf("parsing the gentx: stake %q is not positive", msg.Value.Amount)
	}
	tx.Tokens = tokens
	var err error
	if tx.ConsensusKey, err = decodeKey(msg.PubKey, 32); err != nil {
		return gentx{}, fmt.Errorf("parsing the gentx: consensus key: %w", err)
	}
	if tx.AccountKey, err = decodeKey(file.AuthInfo.SignerInfos[0].PublicKey, 33); err != nil {
		return gentx{}, fmt.Errorf("parsing the gentx: signer's key: %w", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return gentx{}, fmt.Errorf("parsing the gentx: %w", err)
	}
	tx.raw = compact.Bytes()
	return tx, nil
}

func decodeKey(key encodedKey, length int) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(key.Key)
	if err != nil || len(raw) != length {
		return nil, fmt.Errorf("%q is not %d bytes in base64", key.Key, length)
	}
	return raw, nil
}

// parseGentxs reads all transactions of a ceremony and refuses two that claim
// the same validator. label names each one in errors.
func parseGentxs(raws []json.RawMessage, label func(int) string) ([]gentx, error) {
	txs := make([]gentx, 0, len(raws))
	owner := map[string]int{}
	for i, raw := range raws {
		tx, err := parseGentx(raw)
		if err != nil {
			return nil, invalid(label(i), err)
		}
		for _, unique := range []string{"delegator " + tx.Delegator, "operator " + tx.Validator, "consensus key " + string(tx.ConsensusKey)} {
			if j, taken := owner[unique]; taken {
				what, _, _ := bytes.Cut([]byte(unique), []byte(" "))
				return nil, invalid(label(i), fmt.Errorf("has the same %s as %s", what, label(j)))
			}
			owner[unique] = i
		}
		txs = append(txs, tx)
	}
	return txs, nil
}
