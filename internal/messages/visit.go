package messages

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// collector gathers the messages of one package.
type collector struct {
	// reasons are the values of the constants of reasons, by the name they have in this package.
	reasons map[string]string
	// constants are the package's own texts.
	constants map[string]string
	function  string
	found     []Message
}

// visitor walks over one declaration. above are the nodes that the one at hand is in.
type visitor struct {
	*collector
	above []ast.Node
}

// Visit implements ast.Visitor.
func (v *visitor) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case nil, *ast.ImportSpec:
		return nil
	case *ast.GenDecl:
		if n.Tok == token.CONST {
			return nil // shown where they are used
		}
	case *ast.Field:
		return nil // a type, perhaps with a tag
	case *ast.CallExpr:
		if notShown(n) {
			return nil
		}
	}
	if e, ok := n.(ast.Expr); ok {
		if text, isText := v.text(e); isText {
			if prose(text) {
				v.found = append(v.found, Message{Function: v.function, Reasons: v.reasonsAbove(), Format: text})
			}
			return nil
		}
	}
	return &visitor{collector: v.collector, above: append(slices.Clip(v.above), n)}
}

// reasonsAbove are the reasons in the nearest call, literal or statement around a message.
func (v *visitor) reasonsAbove() []string {
	for _, n := range slices.Backward(v.above) {
		var parts []ast.Expr
		switch n := n.(type) {
		case *ast.CallExpr:
			parts = n.Args
		case *ast.CompositeLit:
			parts = n.Elts
		case *ast.ReturnStmt:
			parts = n.Results
		case *ast.AssignStmt:
			parts = n.Rhs
		case *ast.BlockStmt, *ast.CaseClause:
			return nil
		}
		var found []string
		for _, part := range parts {
			if pair, ok := part.(*ast.KeyValueExpr); ok {
				part = pair.Value
			}
			if reason := v.reason(part); reason != "" {
				found = append(found, reason)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// reason is the value of a constant of a reason; empty for everything else.
func (v *visitor) reason(e ast.Expr) string {
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		return v.reasons[source(e)]
	default:
		return ""
	}
}

// readers are packages that get texts to look for.
var readers = []string{"bytes", "regexp", "strings"}

// notShown reports whether the texts that a call gets are not for a condition, event or error.
func notShown(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if of, ok := method.X.(*ast.Ident); ok && slices.Contains(readers, of.Name) {
		return method.Sel.Name != "Join"
	}
	logs := slices.Contains([]string{"Info", "Error", "Debug", "Warn"}, method.Sel.Name)
	return logs && strings.Contains(strings.ToLower(source(method.X)), "log")
}
