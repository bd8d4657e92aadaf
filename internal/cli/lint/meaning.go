package lint

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/seid/config"
)

// meaning says what the operator would say of an object that the API server has stored. Fields of a
// wrong type were found before, and nothing more is said of such an object.
func meaning(o *object, stored map[string]any) []Finding {
	convert := runtime.DefaultUnstructuredConverter.FromUnstructured
	switch o.kind() {
	case "SeiNode":
		var sn v1alpha1.SeiNode
		if convert(stored, &sn) != nil {
			return nil
		}
		return overrides(o, "spec.overrides", &sn.Spec, sn.Spec.Overrides)
	case "SeiNodeDeployment":
		var snd v1alpha1.SeiNodeDeployment
		if convert(stored, &snd) != nil {
			return nil
		}
		return fleetMeaning(o, &snd)
	default:
		return nil
	}
}

func fleetMeaning(o *object, snd *v1alpha1.SeiNodeDeployment) []Finding {
	template := &snd.Spec.Template.Spec
	found := overrides(o, "spec.template.spec.overrides", template, template.Overrides)
	for i, settings := range snd.Spec.Nodes {
		found = append(found, overrides(o, fmt.Sprintf("spec.nodes[%d].overrides", i), template, settings.Overrides)...)
	}
	if snd.Spec.Genesis != nil {
		found = append(found, genesis(o, snd.Spec.Genesis)...)
	}
	for _, problem := range fleet.SpecProblems(snd) {
		found = append(found, o.finding(Warning, pathIn(problem), problem))
	}
	return found
}

// overrides checks every key by itself, so that each finding has its line; then, if all exist and
// parse, their values together with the profile of the mode.
func overrides(o *object, path string, spec *v1alpha1.SeiNodeSpec, values map[string]string) []Finding {
	var found []Finding
	at := func(key string) string { return fmt.Sprintf("%s[%s]", path, key) }
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := config.CheckOverrides(map[string]string{key: values[key]}); err != nil {
			found = append(found, o.finding(Error, at(key), err.Error()))
		}
	}
	mode, err := node.ModeOf(spec)
	if len(found) > 0 || len(values) == 0 || err != nil {
		return found
	}
	// Without the files of a node the rules see the profile and the overrides, and nothing of what
	// seid init of its version writes: they find less than config-apply does, and nothing else.
	empty := func() config.Files { return config.Files{Config: config.Tree{}, App: config.Tree{}} }
	_, err = config.Apply(empty(), config.Intent{Mode: mode.Seid, Overrides: values})
	_, before := config.Apply(empty(), config.Intent{Mode: mode.Seid})
	known := diagnostics(before)
	for _, d := range diagnostics(err) {
		if d.Severity == config.SeverityError && !slices.Contains(known, d) {
			found = append(found, o.finding(Error, at(d.Field), d.Message))
		}
	}
	return found
}

func diagnostics(err error) config.Diagnostics {
	if invalid, ok := errors.AsType[*config.ValidationError](err); ok {
		return invalid.Diagnostics
	}
	return nil
}

// genesis checks the inputs of a ceremony. The check stops at the first mistake, so accounts are
// looked at one by one.
func genesis(o *object, g *v1alpha1.GenesisCeremony) []Finding {
	var found []Finding
	check := func(accounts []v1alpha1.GenesisAccount, index int) {
		one := g.DeepCopy()
		one.Accounts = accounts
		if err := fleet.CheckGenesis(one); err != nil {
			message := strings.Replace(err.Error(), "accounts[0]", fmt.Sprintf("accounts[%d]", index), 1)
			found = append(found, o.finding(Error, pathIn(message), message))
		}
	}
	check(nil, 0)
	if len(found) > 0 {
		return found
	}
	for i, account := range g.Accounts {
		check([]v1alpha1.GenesisAccount{account}, i)
	}
	return found
}

var leadingPath = regexp.MustCompile(`^spec(?:\.[A-Za-z]+|\[[^\]]*\])+`)

// pathIn is the field that a message begins with.
func pathIn(message string) string { return leadingPath.FindString(message) }
