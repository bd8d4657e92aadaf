package messages

import (
	"bytes"
	"go/ast"
	"go/printer"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// formatters are the functions whose first argument is a format.
var formatters = []string{"fmt.Sprintf", "fmt.Errorf", "errors.New"}

// text is the format that an expression stands for, if it is made of literals.
func (c *collector) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.Ident:
		text, ok := c.constants[e.Name]
		return text, ok
	case *ast.ParenExpr:
		return c.text(e.X)
	case *ast.CallExpr:
		if len(e.Args) > 0 && slices.Contains(formatters, source(e.Fun)) {
			return c.text(e.Args[0])
		}
	case *ast.BinaryExpr:
		left, leftText := c.text(e.X)
		right, rightText := c.text(e.Y)
		if e.Op == token.ADD && (leftText || rightText) {
			return orSource(left, leftText, e.X) + orSource(right, rightText, e.Y), true
		}
	}
	return "", false
}

func orSource(text string, isText bool, e ast.Expr) string {
	if isText {
		return text
	}
	return "{" + source(e) + "}"
}

// source is an expression as it is written.
func source(e ast.Expr) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), e); err != nil {
		return "?"
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

var (
	expression = regexp.MustCompile(`\{[^}]*\}`)
	sentence   = regexp.MustCompile(`[a-z%}:;,] .*[a-z]{2}|[a-z]{2}.* [a-z%{(]|[a-z]{2}: $`)
)

// prose tells messages from names, keys and addresses: it has words beside what is filled in.
func prose(text string) bool {
	return sentence.MatchString(expression.ReplaceAllString(text, "{}")) && !strings.Contains(text, "://")
}

// textConstants gathers constants of a file that are texts.
func (c *collector) textConstants(file *ast.File) {
	eachConstant(file, func(name string, _, value ast.Expr) {
		if text, ok := c.text(value); ok && prose(text) {
			c.constants[name] = text
		}
	})
}

// reasonConstants gathers the constants of a file that are reasons by their name or their type.
func reasonConstants(file *ast.File, prefix string, into map[string]string) {
	eachConstant(file, func(name string, typ, value ast.Expr) {
		literal, ok := value.(*ast.BasicLit)
		if named, _ := typ.(*ast.Ident); !ok || !strings.HasPrefix(name, "Reason") && (named == nil || named.Name != "Reason") {
			return
		}
		if text, err := strconv.Unquote(literal.Value); err == nil {
			into[prefix+name] = text
		}
	})
}

func eachConstant(file *ast.File, do func(name string, typ, value ast.Expr)) {
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			values := spec.(*ast.ValueSpec) //nolint:forcetypeassert // a const has nothing else
			for i, name := range values.Names {
				if i < len(values.Values) {
					do(name.Name, values.Type, values.Values[i])
				}
			}
		}
	}
}

// functionName is a function's name, with the type it is a method of.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	return strings.TrimPrefix(source(fn.Recv.List[0].Type), "*") + "." + fn.Name.Name
}
