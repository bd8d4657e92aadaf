package render

import (
	"encoding/json"
	"fmt"
)

// Convert turns an API value into its apply configuration, or an apply configuration,
// into which the API server's answer was read, into the object it stands for. Both are the
// same JSON; the apply configuration only knows which fields were set.
func Convert[T any](value any) (*T, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", value, err)
	}
	out := new(T)
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("decoding %T: %w", value, err)
	}
	return out, nil
}

func applyConfigs[T, V any](values []V) ([]*T, error) {
	out := make([]*T, 0, len(values))
	for _, value := range values {
		item, err := Convert[T](value)
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}
