package manager

import (
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/platform"
)

func validConfig() Config {
	return Config{Platform: platform.Default(), Namespace: "sei-operator", Concurrency: 1, ShutdownTimeout: time.Second}
}

func TestValidate_Mistakes_AreNamedByFlag(t *testing.T) {
	cases := map[string]struct {
		change func(*Config)
		want   string
	}{
		"nothing wrong":    {func(*Config) {}, ""},
		"no platform":      {func(c *Config) { c.Platform = nil }, "platform configuration is missing"},
		"no namespace":     {func(c *Config) { c.Namespace = "" }, "POD_NAMESPACE"},
		"odd namespace":    {func(c *Config) { c.Namespace = "Sei_Operator" }, `--namespace "Sei_Operator" is not a namespace`},
		"no concurrency":   {func(c *Config) { c.Concurrency = 0 }, "--concurrency is 0"},
		"much concurrency": {func(c *Config) { c.Concurrency = 1001 }, "--concurrency is 1001"},
		"no patience":      {func(c *Config) { c.ShutdownTimeout = 0 }, "--shutdown-timeout is 0s"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := validConfig()
			tc.change(&cfg)
			err := cfg.Validate()
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Validate = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestValidate_SeveralMistakes_AreToldAtOnce(t *testing.T) {
	err := (&Config{}).Validate()
	for _, want := range []string{"platform", "--namespace", "--concurrency", "--shutdown-timeout"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate = %v; it lacks %s", err, want)
		}
	}
}
