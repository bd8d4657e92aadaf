package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// camelCase is how a field is called in YAML.
var camelCase = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

// unfit are types that the API conventions of Kubernetes rule out: floats lose digits on their way through JSON, unsigned
// numbers and int are not the same in every language.
var unfit = []string{"float32", "float64", "int", "uint", "uint8", "uint16", "uint32", "uint64"}

// borrowed are names that Kubernetes has given.
var borrowed = []string{"ephemeral-storage"}

// counted are types whose zero is worth seeing in a status: no replica is ready.
var counted = []string{"int32", "int64", "bool"}

// field is a field of a type of the API, with what stands above it.
type field struct {
	place, name string
	tag         []string
	doc         string
	kind        ast.Expr
}

func (f field) has(marker string) bool { return strings.Contains(f.doc, "+"+marker) }

// The conventions of the Kubernetes API that a linter would look after: kube-api-linter cannot be fetched everywhere.
func TestFields_KeepTheConventionsOfTheAPI(t *testing.T) {
	all := fieldsOf(t)
	if len(all) < 100 {
		t.Fatalf("%d fields were found, want all of the API", len(all))
	}
	for _, f := range all {
		for _, wrong := range breaches(f) {
			t.Errorf("%s: %s", f.place, wrong)
		}
	}
}

// breaches are what is wrong with a field, in words.
func breaches(f field) (found []string) {
	check := func(ok bool, wrong string) {
		if !ok {
			found = append(found, wrong)
		}
	}
	omitted := slices.Contains(f.tag, "omitempty") || slices.Contains(f.tag, "omitzero")
	plain, isPlain := f.kind.(*ast.Ident)
	check(camelCase.MatchString(f.name) || slices.Contains(borrowed, f.name), "the JSON name "+strconv.Quote(f.name)+" is not in camelCase")
	check(strings.HasPrefix(f.doc, f.name+" "), "the comment does not begin with the JSON name "+f.name+": kubectl explain shows it")
	check(f.has("optional") || !omitted, "a field with omitempty (or omitzero) is +optional")
	check(omitted || !f.has("optional") || isPlain && slices.Contains(counted, plain.Name), "a field that is +optional has omitempty (or omitzero)")
	check(!f.has("nullable"), "+nullable makes null and absent two things")
	if isPlain {
		check(!slices.Contains(unfit, plain.Name), "a field of type "+plain.Name+" is read differently by other clients: take int32, int64 or a string")
	}
	if list, isList := f.kind.(*ast.ArrayType); isList {
		element, isPlain := list.Elt.(*ast.Ident)
		isBytes := isPlain && element.Name == "byte"
		check(isBytes || f.has("listType="), "+listType is missing: server-side apply has to know who owns the entries")
	}
	return found
}

func TestBreaches_EachIsNamed(t *testing.T) {
	good := field{name: "size", tag: []string{"omitempty"}, doc: "size is how large it is.\n+optional\n", kind: ast.NewIdent("int64")}
	if found := breaches(good); len(found) > 0 {
		t.Errorf("a field that is right: %v, want nothing", found)
	}
	for want, change := range map[string]func(*field){
		"camelCase":          func(f *field) { f.name, f.doc = "Size", "Size is one.\n+optional" },
		"does not begin":     func(f *field) { f.doc = "How large it is.\n+optional" },
		"omitzero) is":       func(f *field) { f.doc = "size is how large it is." },
		"has omitempty":      func(f *field) { f.tag, f.kind = nil, ast.NewIdent("string") },
		"+nullable":          func(f *field) { f.doc += "+nullable" },
		"of type float64":    func(f *field) { f.kind = ast.NewIdent("float64") },
		"+listType is missi": func(f *field) { f.kind = &ast.ArrayType{Elt: ast.NewIdent("string")} },
	} {
		bad := good
		change(&bad)
		if found := breaches(bad); len(found) != 1 || !strings.Contains(found[0], want) {
			t.Errorf("got %q, want one breach with %q", found, want)
		}
	}
}

// fieldsOf are the fields of all exported structs that have a name in JSON. Embedded ones are those of their type.
func fieldsOf(t *testing.T) (all []field) {
	t.Helper()
	set := token.NewFileSet()
	files, err := filepath.Glob("*_types.go")
	if err != nil {
		t.Fatal(err)
	}
	status, err := filepath.Glob("*_status.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Concat(files, status) {
		parsed, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, isType := n.(*ast.TypeSpec)
			if !isType || !spec.Name.IsExported() {
				return true
			}
			structure, isStruct := spec.Type.(*ast.StructType)
			if !isStruct {
				return false
			}
			for _, f := range structure.Fields.List {
				if len(f.Names) == 0 || f.Tag == nil {
					continue
				}
				tag, err := strconv.Unquote(f.Tag.Value)
				if err != nil {
					t.Fatal(err)
				}
				parts := strings.Split(reflect.StructTag(tag).Get("json"), ",")
				// Metadata, spec and status of a kind are documented by the kind.
				if parts[0] == "" || parts[0] == "-" || slices.Contains([]string{"metadata", "items"}, parts[0]) {
					continue
				}
				all = append(all, field{
					place: spec.Name.Name + "." + f.Names[0].Name, name: parts[0], tag: parts[1:], doc: commentOf(f), kind: f.Type,
				})
			}
			return false
		})
	}
	return all
}

// commentOf is the comment above a field, with its markers.
func commentOf(f *ast.Field) string {
	if f.Doc == nil {
		return ""
	}
	var b strings.Builder
	for _, line := range f.Doc.List {
		b.WriteString(strings.TrimPrefix(strings.TrimPrefix(line.Text, "//"), " ") + "\n")
	}
	return b.String()
}
