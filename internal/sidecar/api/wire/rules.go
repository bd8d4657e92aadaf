package wire

import (
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Denom is the only denomination that fees, deposits and stakes are paid in.
const Denom = "usei"

var (
	chainIDPattern = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,49}$`)
	coinPattern    = regexp.MustCompile(`^([0-9]{1,78})([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$`)
	namePattern    = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,251}[a-zA-Z0-9])?$`)
	addressPattern = regexp.MustCompile(`^sei1[02-9ac-hj-np-z]{38,58}$`)
	valuePattern   = regexp.MustCompile(`^[^\x00-\x1f\x7f]*$`)
)

// first is the first error of a list of checks, in their order.
func first(checks ...error) error {
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

func required(field, value string) error {
	if strings.TrimSpace(value) == "" {
		return api.InvalidField(field, "is required")
	}
	return nil
}

func matches(field, value string, pattern *regexp.Regexp, what string) error {
	if err := required(field, value); err != nil {
		return err
	}
	if !pattern.MatchString(value) {
		return api.InvalidField(field, "%q is not %s", value, what)
	}
	return nil
}

func chainID(value string) error { return matches("chainId", value, chainIDPattern, "a chain id") }

// text is free text that becomes a command argument: one line, bounded.
func text(field, value string, limit int) error {
	if err := required(field, value); err != nil {
		return err
	}
	return optionalText(field, value, limit)
}

func optionalText(field, value string, limit int) error {
	if len(value) > limit {
		return api.InvalidField(field, "is longer than %d bytes", limit)
	}
	if !valuePattern.MatchString(value) {
		return api.InvalidField(field, "has control characters in it")
	}
	return nil
}

// coins is a comma separated list of amounts such as 1usei,2uatom.
func coins(field, value string) error {
	if err := required(field, value); err != nil {
		return err
	}
	for coin := range strings.SplitSeq(value, ",") {
		if err := coinError(coin); err != nil {
			return api.InvalidField(field, "%w", err)
		}
	}
	return nil
}

// usei is one positive amount of the native denomination.
func usei(field, value string) error {
	if err := required(field, value); err != nil {
		return err
	}
	if err := coinError(value); err != nil {
		return api.InvalidField(field, "%w", err)
	}
	if denom := coinPattern.FindStringSubmatch(value)[2]; denom != Denom {
		return api.InvalidField(field, "has denomination %q, want %q", denom, Denom)
	}
	return nil
}

func coinError(coin string) error {
	parts := coinPattern.FindStringSubmatch(coin)
	if parts == nil {
		return fmt.Errorf("%q is not an amount with a denomination, such as 1000usei", coin)
	}
	if strings.Trim(parts[1], "0") == "" {
		return fmt.Errorf("%q is not positive", coin)
	}
	return nil
}

func sha256Hex(field, value string) error {
	if value == "" {
		return nil
	}
	if sum, err := hex.DecodeString(value); err != nil || len(sum) != 32 {
		return api.InvalidField(field, "%q is not a SHA-256 in hex", value)
	}
	return nil
}

func duration(field, value string) error {
	if value == "" {
		return nil
	}
	d, err := time.ParseDuration(value)
	if err == nil && d <= 0 {
		err = errors.New("has to be positive")
	}
	if err != nil {
		return api.InvalidField(field, "%w; write a duration such as 168h", err)
	}
	return nil
}
