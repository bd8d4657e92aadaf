package statuspatch_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The folders of the repository that hold no product code.
var notProduct = []string{"tools", "test", "hack", "bin", ".git", ".cache"}

// A5: no other package writes a status.
func TestSource_NoStatusWriteOutsideThisPackage(t *testing.T) {
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("looking for the root of the repository: %v", err)
	}
	own := filepath.Join("internal", "statuspatch")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains(notProduct, rel) || rel == own {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		files++
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := statusWrites(rel, string(source))
		if err != nil {
			return err
		}
		for _, f := range found {
			t.Errorf("%s: write a status through internal/statuspatch, which locks and counts", f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("only %d files were looked at", files)
	}
}

func TestSource_TheGuardSeesEveryWayToWriteAStatus(t *testing.T) {
	const client = `import "sigs.k8s.io/controller-runtime/pkg/client"` + "\n"
	cases := []struct {
		name, source string
		want         int
	}{
		{"update", client + `func f(c client.Client) { c.Status().Update(ctx, obj) }`, 1},
		{"patch", client + `func f(c client.Client) { _ = c.Status().Patch(ctx, obj, p) }`, 1},
		{"apply", client + `func f(c client.Client) { _ = c.Status().Apply(ctx, cfg) }`, 1},
		{"embedded client in a file without the import", `func (r *R) f() { r.Status().Update(ctx, obj) }`, 1},
		{"subresource", client + `func f(c client.Client) { c.SubResource("status").Patch(ctx, obj, p) }`, 1},
		{"subresource named by a variable", client + `func f(c client.Client) { c.SubResource(name).Update(ctx, obj) }`, 1},
		{"kept writer", client + `func f(c client.Client) { w := c.Status(); w.Patch(ctx, obj, p) }`, 1},
		{"kept writer of an embedded client, in a file without the import", `func (r *R) f() { w := r.Status(); w.Patch(ctx, obj, p) }`, 1},
		{"kept in a variable that is declared", `func (r *R) f() { var w = r.Status(); _ = w.Update(ctx, obj) }`, 1},
		{"kept beside another value", `func (r *R) f() { n, w := 1, r.Status(); w.Apply(ctx, cfg) }`, 1},
		{"kept in a field", `func (r *R) f() { r.w = r.Status(); r.w.Patch(ctx, obj, p) }`, 1},
		{"a kept status that is only read", `func (r *R) f() { s := r.Status(); p(s.Phase) }`, 0},
		{"kept subresource client", `func f(c C) { w := c.SubResource("status"); w.Patch(ctx, obj, p) }`, 1},
		{"method value", client + `func f(c client.Client) { g := c.Status; g().Update(ctx, obj) }`, 1},
		{"typed client", `func f(c C) { c.StatefulSets(ns).UpdateStatus(ctx, obj, o) }`, 1},
		{"typed apply", `func f(c C) { c.StatefulSets(ns).ApplyStatus(ctx, obj, o) }`, 1},
		{"typed patch", `func f(c C) { c.StatefulSets(ns).Patch(ctx, n, t, d, o, "status") }`, 1},
		{"reading the field", client + `func f(n *N) { n.Status.Phase = "x"; n.Status.DeepCopy(); p(n.Status) }`, 0},
		{"another subresource", client + `func f(c client.Client) { c.SubResource("eviction").Create(ctx, pod, e) }`, 0},
		{"reading the subresource", client + `func f(c client.Client) { c.SubResource("status").Get(ctx, obj, sub) }`, 0},
		{"a method named Status elsewhere", `func f(t T) { s := t.Status(); _ = s }`, 0},
		{"a patch of the object", client + `func f(c client.Client) { c.Patch(ctx, obj, p) }`, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			found, err := statusWrites("x.go", "package x\n"+tc.source)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != tc.want {
				t.Errorf("found %v, want %d", found, tc.want)
			}
		})
	}
}

// statusWrites lists the places in one file that write a status subresource, or
// get hold of a writer that could.
func statusWrites(name, source string) ([]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", name, err)
	}
	guard := guard{kept: keptWriters(file), usesClient: imports(file, "sigs.k8s.io/controller-runtime/pkg/client"), seen: map[ast.Node]bool{}}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if what := guard.judge(n); what != "" {
			found = append(found, fmt.Sprintf("%s: %s", fset.Position(n.Pos()), what))
		}
		return true
	})
	return found, nil
}

// keptWriters are the names that hold the result of a call of Status: variables and fields.
func keptWriters(file *ast.File) map[string]bool {
	kept := map[string]bool{}
	note := func(names, values []ast.Expr) {
		for i, value := range values {
			call, ok := value.(*ast.CallExpr)
			if ok && statusWriter(call) && nameOf(call.Fun) == "Status" && len(names) == len(values) {
				kept[nameOf(names[i])] = true
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			note(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			names := make([]ast.Expr, len(n.Names))
			for i := range n.Names {
				names[i] = n.Names[i]
			}
			note(names, n.Values)
		}
		return true
	})
	delete(kept, "")
	return kept
}

// nameOf is the last part of a variable's or a field's name.
func nameOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

type guard struct {
	// kept are names of writers. Where the client is imported, keeping one is enough.
	kept       map[string]bool
	usesClient bool
	seen       map[ast.Node]bool // parts of a call that was judged already
}

var writes = []string{"Create", "Update", "Patch", "Apply"}

func (g guard) judge(n ast.Node) string {
	if g.seen[n] {
		return ""
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		return g.judgeCall(n)
	case *ast.SelectorExpr:
		if !g.usesClient && g.kept[nameOf(n.X)] && slices.Contains(writes, n.Sel.Name) {
			return "status write " + n.Sel.Name + " by a writer that was kept"
		}
		if inner, ok := n.X.(*ast.CallExpr); ok && statusWriter(inner) {
			g.seen[inner] = true
			if sel, ok := inner.Fun.(*ast.SelectorExpr); ok {
				g.seen[sel] = true
			}
			if slices.Contains(writes, n.Sel.Name) {
				return "status write " + n.Sel.Name
			}
			return ""
		}
	case *ast.AssignStmt:
		for _, value := range n.Rhs {
			if sel, ok := value.(*ast.SelectorExpr); ok && g.usesClient && sel.Sel.Name == "Status" && namedLikeAClient(sel.X) {
				return "status writer kept as a method value"
			}
		}
	}
	return ""
}

func (g guard) judgeCall(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	switch {
	case sel.Sel.Name == "UpdateStatus" || sel.Sel.Name == "ApplyStatus":
		return "status write " + sel.Sel.Name
	case sel.Sel.Name == "Patch" && slices.ContainsFunc(call.Args, isStatus):
		return "status write by subresource name"
	case sel.Sel.Name == "SubResource" && statusWriter(call):
		return "status writer kept"
	case sel.Sel.Name == "Status" && statusWriter(call) && g.usesClient:
		return "status writer kept"
	}
	return ""
}

// statusWriter reports whether a call yields something that can write a status.
func statusWriter(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch sel.Sel.Name {
	case "Status":
		return len(call.Args) == 0
	case "SubResource":
		if len(call.Args) != 1 {
			return false
		}
		lit, ok := call.Args[0].(*ast.BasicLit)
		return !ok || isStatus(lit) // what a variable names is not known
	}
	return false
}

func namedLikeAClient(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "c" || strings.Contains(strings.ToLower(x.Name), "client")
	case *ast.SelectorExpr:
		return strings.Contains(strings.ToLower(x.Sel.Name), "client")
	}
	return false
}

func isStatus(x ast.Expr) bool {
	lit, ok := x.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return false
	}
	value, err := strconv.Unquote(lit.Value)
	return err == nil && value == "status"
}

func imports(file *ast.File, path string) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		value, err := strconv.Unquote(spec.Path.Value)
		return err == nil && value == path
	})
}
