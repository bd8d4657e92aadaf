package cli

import (
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// zero empties an object before it is read again: what an answer leaves out would stay otherwise.
func zero(obj client.Object) { reflect.ValueOf(obj).Elem().SetZero() }

// assign makes one object what another of the same type is.
func assign(to, from client.Object) { reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem()) }
