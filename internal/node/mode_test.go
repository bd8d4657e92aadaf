package node_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/node"
)

// The specs of modes are the pointer fields of SeiNodeSpec whose types end in the mode's name; a new
// one that the table does not know fails here.
func TestModes_EveryModeOfTheSpec_IsInTheTable(t *testing.T) {
	for field := range reflect.TypeFor[v1alpha1.SeiNodeSpec]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Type.Kind() != reflect.Pointer || !strings.EqualFold(field.Type.Elem().Name(), name+"Spec") {
			continue
		}
		at := slices.IndexFunc(node.Modes(), func(m node.Mode) bool { return m.Field == name })
		if isMode := slices.Contains([]string{"scheduling", "sidecar", "dataVolume"}, name); at < 0 != isMode {
			t.Errorf("%s: in the table %v", name, at >= 0)
		}
		if at < 0 {
			continue
		}
		spec := v1alpha1.SeiNodeSpec{}
		reflect.ValueOf(&spec).Elem().FieldByIndex(field.Index).Set(reflect.New(field.Type.Elem()))
		got, err := node.ModeOf(&spec)
		if err != nil || got.Field != name || got.Role != spec.Role() || !got.Seid.Valid() || got.Words == "" {
			t.Errorf("%s is taken for %+v, role %s, %v", name, got, spec.Role(), err)
		}
	}
}

func TestModeOf_UnknownMode_IsAnErrorAndNoFullNode(t *testing.T) {
	spec := &v1alpha1.SeiNodeSpec{}
	if m, err := node.ModeOf(spec); err == nil || spec.Role() != "" {
		t.Errorf("mode %+v, role %q, want an error and no role", m, spec.Role())
	}
}
