package config_test

import (
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/internal/seid/config"
)

func TestCheckOverrides_OrdinalOfAFleet_IsRefusedWithTheWayOut(t *testing.T) {
	for _, value := range []string{"$(ORDINAL)", "node-$(ORDINAL)"} {
		err := config.CheckOverrides(map[string]string{"chain.moniker": value})
		if err == nil || !strings.Contains(err.Error(), `"chain.moniker"="`+value+`": $(ORDINAL) means nothing in overrides`) || !strings.Contains(err.Error(), "write the value out") {
			t.Errorf("%q: %v, want an error with %q and %q in it", value, err, `"chain.moniker"="`+value+`": $(ORDINAL) means nothing in overrides`, "write the value out")
		}
	}
	if err := config.CheckOverrides(map[string]string{"chain.moniker": "$(NAME) $ORDINAL"}); err != nil {
		t.Error(err)
	}
}
