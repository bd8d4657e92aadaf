package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// samples are objects that stand where something has to be around a field, in place of the smallest one
// that the schema allows. The path is that of a SeiNode, or of several with a * in front.
var samples = map[string]string{
	"*.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[]": `{weight: 1, preference: {matchExpressions: [{key: a, operator: In, values: [b]}]}}`,
	"*.matchExpressions[]":          `{key: a, operator: In, values: [b]}`,
	"*.matchFields[]":               `{key: metadata.name, operator: In, values: [b]}`,
	"*.tolerations[]":               `{key: a, operator: Equal}`,
	"*.topologySpreadConstraints[]": `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}`,
	"*.podAffinityTerm":             `{topologyKey: zone, labelSelector: {matchLabels: {a: b}}}`,
	"*odAffinity.requiredDuringSchedulingIgnoredDuringExecution[]":     `{topologyKey: zone, labelSelector: {matchLabels: {a: b}}}`,
	"*odAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[]": `{topologyKey: zone, labelSelector: {matchLabels: {a: b}}}`,
	"*.snapshot":                            `{s3: {targetHeight: 100}}`,
	"spec.validator.operatorKeyring.secret": `{secretName: keyring, passphraseSecretRef: {secretName: passphrase, key: a}}`,
	"*.tendermint":                          `{keepRecent: 2}`,
	"spec.extraEnv[]":                       `{name: WALK}`,
	"spec.extraVolumes[]":                   `{name: walk}`,
	"spec.extraVolumeMounts[]":              `{name: walk-a, mountPath: /mnt/walk}`,
	"spec.upgrades[]":                       `{name: v7, image: "seid:v7"}`,
}

// sampled finds the sample of an object.
func sampled(path string) (string, bool) {
	if rest, is := strings.CutPrefix(path, "spec.template.spec."); is {
		path = "spec." + rest
	}
	for of, sample := range samples {
		if (note{of: of}).matches(path) {
			return sample, true
		}
	}
	return "", false
}

// smallest is the smallest value that a schema allows, or a sample: an object with what it requires, a
// list with as many items. The number makes values differ that have to.
func smallest(t *testing.T, s *props, path string, number int) any {
	t.Helper()
	if sample, is := sampled(path); is {
		return decode(t, sample)
	}
	switch {
	case len(s.Properties) > 0:
		obj := map[string]any{}
		for _, name := range s.Required {
			property := s.Properties[name]
			obj[name] = smallest(t, &property, path+"."+name, number)
		}
		return obj
	case s.Items != nil && s.Items.Schema != nil:
		items := []any{}
		for i := range least(s.MinItems) {
			items = append(items, smallest(t, s.Items.Schema, path+"[]", number+i))
		}
		return items
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		entries := map[string]any{}
		for i := range least(s.MinProperties) {
			entries[fmt.Sprintf("key-%d", i)] = smallest(t, s.AdditionalProperties.Schema, path+"{}", number+i)
		}
		return entries
	}
	values := valid(s)
	if len(values) == 0 {
		t.Fatalf("no value of %s can be generated: give a sample of what is around it", path)
	}
	return values[number%len(values)]
}

func least(bound *int64) int {
	if bound == nil {
		return 0
	}
	return int(*bound)
}

// place returns a copy of a spec with a value at a field. What has to be around it is made.
func (f field) place(t *testing.T, spec map[string]any, key string, value any) map[string]any {
	t.Helper()
	p := placing{t: t, key: key, value: value}
	return p.put(runtime.DeepCopyJSON(spec), f.steps[0].schema, f.steps[0].name, f.steps[1:]).(map[string]any)
}

// placing is a value on its way to its place, and the key of a map that it goes to.
type placing struct {
	t     *testing.T
	key   string
	value any
}

func (p placing) put(into any, s *props, path string, steps []step) any {
	p.t.Helper()
	if len(steps) == 0 {
		return p.value
	}
	next := steps[0]
	if into == nil {
		into = smallest(p.t, s, path, 0)
	}
	switch v := into.(type) {
	case map[string]any:
		v = maps.Clone(v)
		key, below := next.name, path+"."+next.name
		if key == "" {
			key, below = p.key, path+"{}"
		}
		v[key] = p.put(v[key], next.schema, below, steps[1:])
		return v
	case []any:
		v = slices.Clone(v)
		if len(v) == 0 {
			v = append(v, nil)
		}
		v[0] = p.put(v[0], next.schema, path+"[]", steps[1:])
		return v
	}
	p.t.Fatalf("%s is a %T and cannot hold %q", path, into, next.name)
	return nil
}
