package gov

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sei-operator/sei-operator/internal/seid/protofield"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// account is what a signature needs to know of the signer.
type account struct {
	Address  string
	Number   uint64
	Sequence uint64
}

// signer is the address of a key. Commands get a scratch home: in a home without
// configuration the binary would write some.
func (t *Tasks) signer(ctx context.Context, scratch, keyName string) (string, error) {
	args := append([]string{"keys", "show", keyName, "--address", "--home", scratch}, t.Keyring.flags(t.Node.Home)...)
	stdin, err := t.Keyring.stdin()
	if err != nil {
		return "", err
	}
	out, err := t.Node.Seid.Run(ctx, seidcmd.Call{Args: args, Stdin: stdin})
	if err != nil {
		return "", api.Terminal(api.CodePrecondition, err).WithHint("check that the keyring has a key named %q", keyName)
	}
	return strings.TrimSpace(string(out)), nil
}

// account asks the chain for the signer's number and next sequence.
func (t *Tasks) account(ctx context.Context, address string) (account, error) {
	query := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), address)
	answer, err := t.RPC().ABCIQuery(ctx, "/cosmos.auth.v1beta1.Query/Account", query)
	if err != nil {
		return account{}, api.Retryable(api.CodeUnavailable, fmt.Errorf("querying the account: %w", err))
	}
	if answer.Code != 0 {
		return account{}, api.Terminal(api.CodePrecondition, fmt.Errorf("querying account %s: %s", address, answer.Log)).
			WithHint("the account has to exist on chain; send it the fees first")
	}
	found, err := parseAccount(answer.Value, address)
	if err != nil {
		return account{}, fmt.Errorf("querying the account: %w", err)
	}
	return found, nil
}

// parseAccount finds the base account in the answer. Vesting accounts wrap it,
// always as their first field.
func parseAccount(answer []byte, address string) (account, error) {
	value := protofield.Bytes(protofield.Bytes(answer, 1), 2) // the account, inside an Any
	const deepest = 4
	for range deepest {
		inner := protofield.Bytes(value, 1)
		if string(inner) == address {
			return account{Address: address, Number: protofield.Varint(value, 3), Sequence: protofield.Varint(value, 4)}, nil
		}
		value = inner
	}
	return account{}, errors.New("the answer holds no account")
}

// sign makes the transaction's bytes without talking to any node.
func (t *Tasks) sign(ctx context.Context, scratch string, who account, msg message, taskID string) ([]byte, error) {
	words, err := msg.args(scratch)
	if err != nil {
		return nil, err
	}
	offline := []string{
		"--chain-id", t.Node.ChainID, "--home", scratch, "--offline",
		"--account-number", strconv.FormatUint(who.Number, 10), "--sequence", strconv.FormatUint(who.Sequence, 10),
	}
	unsigned, signed := filepath.Join(scratch, "unsigned.json"), filepath.Join(scratch, "signed.json")
	generate := slices.Concat([]string{"tx"}, words, offline, []string{
		"--from", who.Address, "--keyring-backend", "memory", "--generate-only", "--fees=" + msg.tx.Fees, "--gas=" + strconv.FormatUint(msg.tx.Gas, 10),
		"--note=" + msg.tx.TaggedMemo(taskID),
	})
	out, err := t.Node.Seid.Run(ctx, seidcmd.Call{Args: generate})
	if err != nil {
		return nil, api.Terminal(api.CodeInvalidParams, err)
	}
	if err := writeScratch(unsigned, out); err != nil {
		return nil, err
	}
	signing := slices.Concat([]string{"tx", "sign", unsigned}, offline, t.Keyring.flags(t.Node.Home), []string{
		"--from", msg.tx.KeyName, "--sign-mode", "direct", "--output-document", signed,
	})
	stdin, err := t.Keyring.stdin()
	if err != nil {
		return nil, err
	}
	if _, err := t.Node.Seid.Run(ctx, seidcmd.Call{Args: signing, Stdin: stdin}); err != nil {
		return nil, err
	}
	encoded, err := t.Node.Seid.Run(ctx, seidcmd.Call{Args: []string{"tx", "encode", signed, "--home", scratch}})
	if err != nil {
		return nil, err
	}
	tx, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(encoded)))
	if err != nil {
		return nil, fmt.Errorf("decoding the signed transaction: %w", err)
	}
	return tx, nil
}
