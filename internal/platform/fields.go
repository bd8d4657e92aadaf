package platform

import (
	"reflect"
	"slices"
	"strings"
)

// fieldByName finds the field with the given json name, also in embedded
// structs; the zero Value means there is none.
func fieldByName(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			if found := fieldByName(v.Field(i), name); found.IsValid() {
				return found
			}
			continue
		}
		if jsonName(f) == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// fieldNames lists the json names of a struct's fields, sorted.
func fieldNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		if f.Anonymous {
			names = append(names, fieldNames(f.Type)...)
		} else {
			names = append(names, jsonName(f))
		}
	}
	slices.Sort(names)
	return names
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
