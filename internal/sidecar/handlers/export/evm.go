package export

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"
)

// maxEVMAnswer bounds one answer; traces of full blocks are large.
const maxEVMAnswer = 256 << 20

// touched is what a block's transactions looked at, per account.
type touched map[string]map[string]bool // address -> storage slots

// compareEVM is layer 2: the state of every account that the block touched.
func (j *job) compareEVM(ctx context.Context, height int64) ([]Difference, error) {
	block := fmt.Sprintf("0x%x", height)
	accounts, err := traceBlock(ctx, cmp.Or(j.params.TraceRPC, j.params.CanonicalEVMRPC), block)
	if err != nil {
		return nil, err
	}
	var found []Difference
	for _, address := range slices.Sorted(maps.Keys(accounts)) {
		questions := [][2]any{
			{"eth_getBalance", []any{address, block}},
			{"eth_getTransactionCount", []any{address, block}},
			{"eth_getCode", []any{address, block}},
		}
		for _, slot := range slices.Sorted(maps.Keys(accounts[address])) {
			questions = append(questions, [2]any{"eth_getStorageAt", []any{address, slot, block}})
		}
		for _, q := range questions {
			method, _ := q[0].(string)
			args, _ := q[1].([]any)
			difference, err := j.askBoth(ctx, method, args)
			if err != nil {
				return nil, err
			}
			if difference != nil {
				found = append(found, *difference)
			}
		}
	}
	return found, nil
}

func (j *job) askBoth(ctx context.Context, method string, args []any) (*Difference, error) {
	var shadow, canonical string
	if err := callEVM(ctx, j.params.ShadowEVMRPC, method, args, &shadow); err != nil {
		return nil, err
	}
	if err := callEVM(ctx, j.params.CanonicalEVMRPC, method, args, &canonical); err != nil {
		return nil, err
	}
	if shadow == canonical {
		return nil, nil
	}
	return &Difference{2, fmt.Sprintf("%s%v", method, args[:len(args)-1]), shadow, canonical}, nil
}

// traceBlock asks which accounts and slots the transactions of a block touched.
func traceBlock(ctx context.Context, endpoint, block string) (touched, error) {
	var traces []struct {
		Result map[string]struct {
			Storage map[string]string `json:"storage"`
		} `json:"result"`
	}
	args := []any{block, map[string]any{"tracer": "prestateTracer"}}
	if err := callEVM(ctx, endpoint, "debug_traceBlockByNumber", args, &traces); err != nil {
		return nil, err
	}
	accounts := touched{}
	for _, trace := range traces {
		for address, account := range trace.Result {
			if accounts[address] == nil {
				accounts[address] = map[string]bool{}
			}
			for slot := range account.Storage {
				accounts[address][slot] = true
			}
		}
	}
	return accounts, nil
}

func callEVM(ctx context.Context, endpoint, method string, params []any, out any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("calling %s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("calling %s: %w", method, err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("calling %s: %w", method, err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxEVMAnswer)).Decode(&answer); err != nil {
		return fmt.Errorf("calling %s: %w", method, err)
	}
	if answer.Error != nil {
		return fmt.Errorf("calling %s: %s (code %d)", method, answer.Error.Message, answer.Error.Code)
	}
	if len(answer.Result) == 0 {
		return fmt.Errorf("calling %s: the answer has no result", method)
	}
	if err := json.Unmarshal(answer.Result, out); err != nil {
		return fmt.Errorf("calling %s: %w", method, err)
	}
	return nil
}
