package validator_test

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sei-operator/sei-operator/internal/seid/validator"
)

func text(message []byte, number protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(message, number, protowire.BytesType), value)
}

func varint(message []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(message, number, protowire.VarintType), value)
}

// The answers are laid out as the chain's own types are; test/sidecar asks a real chain.
func TestDecode_WhatTheChainTells(t *testing.T) {
	record := text(text(nil, 1, "seivaloper1x"), 2, "key")
	if validator.Jailed(record) || !validator.Jailed(varint(record, 3, 1)) {
		t.Error("jailed is not told from not jailed")
	}
	info := varint(varint(text(nil, 1, "seivalcons1x"), 2, 7), 3, 9)
	if got, want := validator.DecodeSigning(varint(varint(info, 5, 1), 6, 42)), (validator.Signing{Missed: 42, Tombstoned: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := validator.DecodeSigning(info); got != (validator.Signing{}) {
		t.Errorf("got %+v of a validator that missed nothing", got)
	}
}

func TestDecodeAllowed_WindowLessWhatHasToBeSigned(t *testing.T) {
	answer := func(window uint64, share string) []byte {
		return text(nil, 1, string(text(varint(nil, 1, window), 2, share)))
	}
	for name, c := range map[string]struct {
		answer []byte
		want   int64
		fails  bool
	}{
		"of Sei":          {answer(108000, "50000000000000000"), 102600, false},
		"half":            {answer(100, "500000000000000000"), 50, false},
		"all":             {answer(100, "1000000000000000000"), 0, false},
		"none":            {answer(100, "0"), 100, false},
		"nothing":         {nil, 0, true},
		"no window":       {answer(0, "500000000000000000"), 0, true},
		"no share":        {answer(100, ""), 0, true},
		"a share below 0": {answer(100, "-1"), 0, true},
	} {
		got, err := validator.DecodeAllowed(c.answer)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %d, %v, want %d", name, got, err, c.want)
		}
	}
}

func TestKeys_LengthBeforeTheAddress(t *testing.T) {
	address, err := validator.ParseAddress("E3C5FFB7C956FA12334D06905F1EE8B438B2E8DD")
	if err != nil {
		t.Fatal(err)
	}
	for prefix, key := range map[byte][]byte{1: validator.SigningInfoKey(address), 0x21: validator.Key(address), 0x22: validator.OperatorKey(address)} {
		if want := append([]byte{prefix, 20}, address...); !bytes.Equal(key, want) {
			t.Errorf("got %x, want %x", key, want)
		}
	}
	for _, wrong := range []string{"", "E3C5", "not hex not hex not hex not hex not hex "} {
		if _, err := validator.ParseAddress(wrong); err == nil {
			t.Errorf("%q is taken for an address", wrong)
		}
	}
	if validator.CheckOperator(nil) == nil || validator.CheckOperator(address) != nil {
		t.Error("an operator that is not there is not told from one that is")
	}
}
