package platform

import "testing"

func TestExpand_ReplacesWhatHasAValue(t *testing.T) {
	values := map[string]string{VarName: "rpc", VarOrdinal: "2"}
	for template, want := range map[string]string{
		"$(NAME)-$(ORDINAL)":   "rpc-2",
		"$(NAME)$(NAME)":       "rpcrpc",
		"plain":                "plain",
		"$(CHAIN).$(NAME)":     "$(CHAIN).rpc",
		"$NAME $(name) $(NAME": "$NAME $(name) $(NAME",
	} {
		if got := Expand(template, values); got != want {
			t.Errorf("Expand(%q) = %q, want %q", template, got, want)
		}
	}
}
