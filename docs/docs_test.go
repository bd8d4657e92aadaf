// Package docs_test keeps the documentation true: names, files, links and tests
// that a page names must exist. It holds no product code.
package docs_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

const root = ".."

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// pages are the documents of the repository, relative to its root.
func pages(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		matches, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range matches {
			page, err := filepath.Rel(root, match)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, page)
		}
	}
	if len(found) < 10 {
		t.Fatalf("only %d pages were found: %v", len(found), found)
	}
	return found
}

func TestConditions_EveryPhase_IsExplained(t *testing.T) {
	page := read(t, "docs/reference/conditions.md")
	phases := stringConstants(t, "api/v1alpha1/seinode_status.go")
	if len(phases) < 5 {
		t.Fatalf("only %d phases were found", len(phases))
	}
	for name, value := range phases {
		if !strings.Contains(page, "`"+value+"`") {
			t.Errorf("docs/reference/conditions.md does not explain %s (%s)", value, name)
		}
	}
}

// stringConstants are the string constants of a file, by name.
func stringConstants(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, decl := range file.Decls {
		constants, ok := decl.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		for _, spec := range constants.Specs {
			value := spec.(*ast.ValueSpec)
			for i, expression := range value.Values {
				if literal, ok := expression.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					text, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					found[value.Names[i].Name] = text
				}
			}
		}
	}
	return found
}

// indexes are the pages that list others, with the folders whose pages each lists. Runbooks are
// listed by the table of alerts, which has a test of its own.
var indexes = map[string][]string{
	"docs/README.md":     {"docs", "docs/how-to", "docs/reference", "docs/explanation", "docs/contributing"},
	"docs/adr/README.md": {"docs/adr"},
}

func TestIndexes_ListEveryPage(t *testing.T) {
	listed := []string{".", "docs/runbooks"}
	for index, folders := range indexes {
		listed = append(listed, folders...)
		content := read(t, index)
		for _, page := range pages(t) {
			name, err := filepath.Rel(filepath.Dir(index), page)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(folders, filepath.Dir(page)) && page != index && !strings.Contains(content, "]("+name+")") {
				t.Errorf("%s does not list %s", index, name)
			}
		}
	}
	for _, page := range pages(t) {
		if folder := filepath.Dir(page); !slices.Contains(listed, folder) {
			t.Errorf("%s is in a folder whose pages no index lists", page)
		}
	}
}

var (
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
)

func TestPages_LinksInsideTheRepository_LeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, page), ""), -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := page
			if target != "" {
				file = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, match[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchors(read(t, file)), anchor) {
				t.Errorf("%s links to %s, and there is no such heading", page, match[1])
			}
		}
	}
}

var (
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noAnchor  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	codeFence = regexp.MustCompile("(?ms)^```.*?^```")
)

// anchors are the fragments a page's headings can be linked by.
func anchors(page string) []string {
	headings := heading.FindAllStringSubmatch(codeFence.ReplaceAllString(page, ""), -1)
	found := make([]string, 0, len(headings))
	for _, match := range headings {
		text := noAnchor.ReplaceAllString(strings.ToLower(match[1]), "")
		found = append(found, strings.ReplaceAll(text, " ", "-"))
	}
	return found
}

var (
	testName = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9_]*)`")
	path     = regexp.MustCompile("`((?:api|cmd|config|docs|hack|internal|test|tools)/[A-Za-z0-9_./-]+)`")
	// A node's home has a folder config too.
	ofANode = regexp.MustCompile(`^config/[a-z_]+\.(json|toml)$`)
)

func TestPages_TestsTheySpeakOf_Exist(t *testing.T) {
	tests := testFunctions(t)
	for _, page := range pages(t) {
		for _, match := range testName.FindAllStringSubmatch(read(t, page), -1) {
			if !tests[match[1]] {
				t.Errorf("%s speaks of %s, and there is no such test", page, match[1])
			}
		}
	}
}

func TestPages_FilesTheySpeakOf_Exist(t *testing.T) {
	for _, page := range pages(t) {
		for _, match := range path.FindAllStringSubmatch(read(t, page), -1) {
			if ofANode.MatchString(match[1]) {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, match[1])); err != nil {
				t.Errorf("%s speaks of %s, and there is no such file", page, match[1])
			}
		}
	}
}

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\\n(.*?)^```")

func TestReadme_Manifests_UseFieldsThatExist(t *testing.T) {
	found := 0
	for _, match := range yamlBlock.FindAllStringSubmatch(read(t, "README.md"), -1) {
		if !strings.Contains(match[1], "\nkind: SeiNode\n") {
			continue
		}
		found++
		if err := yaml.UnmarshalStrict([]byte(match[1]), &v1alpha1.SeiNode{}); err != nil {
			t.Errorf("README.md: %v in\n%s", err, match[1])
		}
	}
	if found == 0 {
		t.Error("README.md shows no SeiNode")
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test[A-Z][A-Za-z0-9_]*)\(`)

// testFunctions are the tests of all modules of the repository.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range testFunction.FindAllSubmatch(source, -1) {
			found[string(bytes.Clone(match[1]))] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
