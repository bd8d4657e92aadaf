package protofield_test

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sei-operator/sei-operator/internal/seid/protofield"
)

func TestFields_AreFoundBehindOthers(t *testing.T) {
	message := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "first")
	message = protowire.AppendVarint(protowire.AppendTag(message, 6, protowire.VarintType), 300)
	message = protowire.AppendString(protowire.AppendTag(message, 7, protowire.BytesType), "last")
	if got := string(protofield.Bytes(message, 7)); got != "last" {
		t.Errorf("field 7 is %q, want last", got)
	}
	if got := protofield.Varint(message, 6); got != 300 {
		t.Errorf("field 6 is %d, want 300", got)
	}
	if got := protofield.Varint(message, 1); got != 0 {
		t.Errorf("a field of another type is read as %d", got)
	}
	if got := protofield.Bytes(message, 2); got != nil {
		t.Errorf("a field that is not there is %q", got)
	}
	for end := range message { // cut anywhere it must not panic
		protofield.Bytes(message[:end], 7)
		protofield.Varint(message[:end], 6)
	}
}
