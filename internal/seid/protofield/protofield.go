// Package protofield reads single fields of protobuf messages that the chain answers with, without
// the types of the chain. Meanings of fields do not enter here.
package protofield

import "google.golang.org/protobuf/encoding/protowire"

// Bytes is the content of a length-delimited field, or nil.
func Bytes(message []byte, want protowire.Number) []byte {
	rest := find(message, want, protowire.BytesType)
	if rest == nil {
		return nil
	}
	value, _ := protowire.ConsumeBytes(rest)
	return value
}

// Varint is the value of a varint field; the encoding leaves zeros out.
func Varint(message []byte, want protowire.Number) uint64 {
	rest := find(message, want, protowire.VarintType)
	if rest == nil {
		return 0
	}
	value, _ := protowire.ConsumeVarint(rest)
	return value
}

// find is the message from the value of a field on; nil when it has none, or cannot be read so far.
func find(message []byte, want protowire.Number, kind protowire.Type) []byte {
	for len(message) > 0 {
		number, found, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		size := protowire.ConsumeFieldValue(number, found, message[n:])
		if size < 0 {
			return nil
		}
		if number == want && found == kind {
			return message[n:]
		}
		message = message[n+size:]
	}
	return nil
}
