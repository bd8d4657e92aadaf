package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// variable is the environment variable of a test that names the mutant to enable.
const variable = "SEI_MUTANT"

// chooser returns the file that is added to every package with mutants.
func chooser(name string) []byte {
	return fmt.Appendf(nil, "package %s\n\nimport \"os\"\n\nvar mutantUnderTest = os.Getenv(%q)\n", name, variable)
}

// source is a file with mutants in it.
type source struct {
	path string
	text []byte
	set  *token.FileSet
	file *ast.File
	// byFunc are the mutants by the function that contains them.
	byFunc map[*ast.FuncDecl][]*mutant
}

// read finds the functions that contain the mutants of a file. It also returns the mutants outside
// of functions: those cannot be selected at run time.
func read(root, path string, mutants []*mutant) (*source, []*mutant, error) {
	text, err := os.ReadFile(filepath.Join(root, path)) //nolint:gosec // a file of this repository
	if err != nil {
		return nil, nil, fmt.Errorf("reading the source: %w", err)
	}
	s := &source{path: path, text: text, set: token.NewFileSet(), byFunc: map[*ast.FuncDecl][]*mutant{}}
	if s.file, err = parser.ParseFile(s.set, path, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return nil, nil, fmt.Errorf("parsing the source: %w", err)
	}
	var outside []*mutant
	for _, m := range mutants {
		at := bytes.Index(text, []byte(m.Old))
		if f := s.function(at, at+len(m.Old)); f != nil {
			s.byFunc[f] = append(s.byFunc[f], m)
		} else {
			outside = append(outside, m)
		}
	}
	return s, outside, nil
}

func (s *source) offset(p token.Pos) int { return s.set.Position(p).Offset }

// function returns the function whose body contains a range of the file, or nil if there is none.
func (s *source) function(from, to int) *ast.FuncDecl {
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && s.offset(f.Body.Lbrace) < from && to <= s.offset(f.Body.Rbrace) {
			return f
		}
	}
	return nil
}

// choosing returns the file with every mutant in it, selected by id.
func (s *source) choosing() ([]byte, error) {
	functions := make([]*ast.FuncDecl, 0, len(s.byFunc))
	for f := range s.byFunc {
		functions = append(functions, f)
	}
	slices.SortFunc(functions, func(a, b *ast.FuncDecl) int { return cmp.Compare(b.Pos(), a.Pos()) })
	text := slices.Clone(s.text)
	var added bytes.Buffer
	for _, f := range functions {
		// From the end of the file to its beginning, so that the remaining offsets stay valid.
		from, to := s.offset(f.Type.Pos()), s.offset(f.Body.Rbrace)+1
		whole := string(s.text[from:to])
		nameAt := s.offset(f.Name.Pos()) - from
		named := func(body, name string) string { return body[:nameAt] + name + body[nameAt+len(f.Name.Name):] }
		fmt.Fprintf(&added, "\n%s\n", named(whole, f.Name.Name+"__0"))
		for _, m := range s.byFunc[f] {
			if strings.Count(whole, m.Old) != 1 {
				return nil, fmt.Errorf("%s: the old text begins outside of function %s", m.ID, f.Name.Name)
			}
			fmt.Fprintf(&added, "\n%s\n", named(strings.Replace(whole, m.Old, m.New, 1), variant(f, m)))
		}
		text = slices.Concat(text[:from], []byte(s.dispatcher(f)), text[to:])
	}
	formatted, err := format.Source(append(text, added.Bytes()...))
	if err != nil {
		return nil, fmt.Errorf("%s with its mutants: %w", s.path, err)
	}
	return formatted, nil
}

func variant(f *ast.FuncDecl, m *mutant) string {
	return f.Name.Name + "__" + strings.ReplaceAll(m.ID, "-", "_")
}

// dispatcher returns a function with the name of the original that calls one of its variants.
func (s *source) dispatcher(f *ast.FuncDecl) string {
	slice := func(from, to token.Pos) string { return string(s.text[s.offset(from):s.offset(to)]) }
	receiver, call := "", ""
	if f.Recv != nil {
		field := f.Recv.List[0]
		receiver = fmt.Sprintf("(self %s) ", slice(field.Type.Pos(), field.Type.End()))
		call = "self."
	}
	var parameters, arguments []string
	for _, field := range f.Type.Params.List {
		for range max(1, len(field.Names)) {
			name := fmt.Sprintf("arg%d", len(arguments))
			parameters = append(parameters, name+" "+slice(field.Type.Pos(), field.Type.End()))
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				name += "..."
			}
			arguments = append(arguments, name)
		}
	}
	types, results, give := "", "", ""
	if p := f.Type.TypeParams; p != nil {
		types = slice(p.Opening, p.Closing+1)
	}
	if r := f.Type.Results; r != nil {
		results, give = slice(r.Pos(), r.End()), "return "
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func %s%s%s(%s) %s {\n\tswitch mutantUnderTest {\n", receiver, f.Name.Name, types, strings.Join(parameters, ", "), results)
	args := strings.Join(arguments, ", ")
	for _, m := range s.byFunc[f] {
		fmt.Fprintf(&b, "\tcase %q:\n\t\t%s%s%s(%s)\n", m.ID, give, call, variant(f, m), args)
	}
	fmt.Fprintf(&b, "\tdefault:\n\t\t%s%s%s__0(%s)\n\t}\n}", give, call, f.Name.Name, args)
	return b.String()
}
