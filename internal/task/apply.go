package task

import (
	"encoding/json"
	"fmt"
)

// convert turns an apply configuration, as the API server answered it, into the
// object it stands for.
func convert(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("encoding %T: %w", from, err)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("decoding %T: %w", to, err)
	}
	return nil
}
