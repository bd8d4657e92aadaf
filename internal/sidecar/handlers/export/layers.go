package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

// compareHeaders is layer 0: the hashes of what the blocks before did.
func compareHeaders(shadow, canonical rpc.Header) []Difference {
	var found []Difference
	for _, h := range []struct{ field, shadow, canonical string }{
		{"app_hash", shadow.AppHash, canonical.AppHash},
		{"last_results_hash", shadow.LastResultsHash, canonical.LastResultsHash},
	} {
		if !strings.EqualFold(h.shadow, h.canonical) {
			found = append(found, Difference{0, h.field, h.shadow, h.canonical})
		}
	}
	return found
}

// compareTxs is layer 1: what each transaction did.
func compareTxs(shadow, canonical []rpc.TxOutcome) []Difference {
	if len(shadow) != len(canonical) {
		return []Difference{{1, "txs", strconv.Itoa(len(shadow)), strconv.Itoa(len(canonical))}}
	}
	var found []Difference
	for i := range shadow {
		a, b := shadow[i], canonical[i]
		for _, f := range []struct{ field, shadow, canonical string }{
			{"code", strconv.FormatUint(uint64(a.Code), 10), strconv.FormatUint(uint64(b.Code), 10)},
			{"gas_used", strconv.FormatInt(a.GasUsed, 10), strconv.FormatInt(b.GasUsed, 10)},
			{"gas_wanted", strconv.FormatInt(a.GasWanted, 10), strconv.FormatInt(b.GasWanted, 10)},
			{"log", a.Log, b.Log},
			{"events", compact(a.Events), compact(b.Events)},
		} {
			if f.shadow != f.canonical {
				found = append(found, Difference{1, fmt.Sprintf("txs[%d].%s", i, f.field), f.shadow, f.canonical})
			}
		}
	}
	return found
}

// compact makes equal documents equal strings, whatever their white space.
func compact(raw json.RawMessage) string {
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return string(raw)
	}
	return out.String()
}
