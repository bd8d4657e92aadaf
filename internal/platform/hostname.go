package platform

import (
	"regexp"
	"slices"
	"strings"
)

// The variables of host names.
const (
	VarName      = "NAME"
	VarNamespace = "NAMESPACE"
	VarProtocol  = "PROTOCOL"
	VarOrdinal   = "ORDINAL"
	VarChain     = "CHAIN"
)

var variable = regexp.MustCompile(`\$\(([^()]*)\)`)

// Expand puts values in the place of variables, which are written $(NAME). Variables without a
// value stay.
func Expand(template string, values map[string]string) string {
	return variable.ReplaceAllStringFunc(template, func(found string) string {
		if value, ok := values[found[2:len(found)-1]]; ok {
			return value
		}
		return found
	})
}

// variables lists the variables of a template, in their order.
func variables(template string) []string {
	all := variable.FindAllStringSubmatch(template, -1)
	names := make([]string, 0, len(all))
	for _, found := range all {
		names = append(names, found[1])
	}
	return names
}

// written lists variables as they are written in a template.
func written(names []string) string { return "$(" + strings.Join(names, "), $(") + ")" }

// hostname checks a template of host names: all variables that tell objects apart, no unknown
// ones, and a DNS name around them.
func (k *checker) hostname(field, template string, needed, optional []string) {
	found := variables(template)
	known := slices.Concat(needed, optional)
	for _, name := range found {
		if !slices.Contains(known, name) {
			k.failf(field, "$(%s) is no variable; there are: %s", name, written(known))
			return
		}
	}
	for _, name := range needed {
		if !slices.Contains(found, name) {
			k.failf(field, "$(%s) is missing: without it two objects would have the same host name", name)
			return
		}
	}
	sample := map[string]string{}
	for _, name := range known {
		sample[name] = "x"
	}
	k.dnsName(field, Expand(template, sample))
}
