package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// avoided are words that we do not use, with those that Kubernetes and Cosmos people know.
var avoided = []struct{ pattern, instead string }{
	{`says? farewell|farewell`, "drain"},
	{`wordless`, "without messages"},
	{`taken back|takes? back`, "unset, reverted"},
	{`does not keep up|do not keep up`, "is not in sync, is behind"},
	{`keeps? ending|keeps? dying`, "is crash-looping"},
	{`(?:was|were) (?:not )?finished for`, "has not completed in"},
	{`what became of`, "the result of"},
	{`another pod answers`, "the IP now belongs to another pod"},
	{`stands? to (?:its|the) (?:chain|upgrades?|next)`, "the sync state, the state with regard to upgrades"},
	{`comes? closer`, "is catching up"},
	{`barred for good`, "tombstoned"},
	{`plans? stands? still`, "plans are suspended"},
	{`controlled by nobody`, "has no controller"},
	{`opens other nodes`, "is valid for other nodes"},
	{`has not told`, "has not reported"},
	{`not let it begin`, "has not started it"},
	{`anew`, "again, or recreate, start over"},
	{`(?:tells?|telling|told) of`, "report"},
	{`(?:speaks?|speaking) of`, "is about, names"},
	{`(?:lets?|letting) go`, "release, remove"},
	{`mend(?:s|ed|ing)?`, "fix"},
	{`in vain`, "without success"},
	{`nobody (?:knows|can tell)`, "it is unknown"},
	{`shall`, "should, must"},
	{`(?:goes|go|went|gone) on`, "continue"},
	{`for ever`, "forever"},
	{`stands? still`, "makes no progress, is suspended"},
	{`has yet to`, "has not ... yet, still has to"},
	{`finished within`, "has completed in"},
	{`cut in time`, "taken in time"},
	{`somebody else's`, "another owner's"},
	{`failed to|unable to|could not successfully`, "a gerund: applying the StatefulSet: ..."},
	{`whitelist(?:ed)?`, "allow-list"},
	{`blacklist(?:ed)?`, "block-list"},
	{`simply|easily|obviously|of course`, "nothing: leave it out"},
	{`please`, "nothing: leave it out"},
	{`in order to`, "to"},
	{`utili[sz]e[sd]?|leverag(?:e|es|ing)`, "use"},
	{`dummy`, "placeholder, example"},
	{`sanity check`, "check"},
}

// quoted are places that hold the words of somebody else, or names that cannot change.
var quoted = map[string][]string{
	"CONTRIBUTING.md":                       {"failed to"}, // the rule against it
	"internal/seid/config/keytable.go":      {"blacklist"}, // keys of seid
	"internal/sidecar/api/wire/process.go":  {"farewell"},  // the name of a field on the wire
	"internal/sidecar/conformance/tasks.go": {"farewell"},  // the same
	"internal/sidecar/gate/divergence.go":   {"failed to"}, // what seid logs
	"internal/sidecar/gate/peerstore.go":    {"unable to"}, // the same
	"internal/sidecar/server/nodeid.go":     {"failed to"}, // an answer that other clients know
	"internal/sidecar/server/tasks.go":      {"failed to"}, // the same
	"test/envtest/sidecarsim/level.go":      {"farewell"},  // the name of a field on the wire
}

func TestWords_AvoidedOnes_AreNotUsed(t *testing.T) {
	all := make([]string, 0, len(avoided))
	for _, word := range avoided {
		all = append(all, "("+word.pattern+")")
	}
	words := regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
	needed := map[string]bool{}
	check := func(file, text string) {
		for _, match := range words.FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1) {
			if slices.Contains(quoted[file], strings.ToLower(match[0])) {
				needed[file] = true
				continue
			}
			word := slices.IndexFunc(match[1:], func(group string) bool { return group != "" })
			t.Errorf("%s: %q: write %s", file, match[0], avoided[word].instead)
		}
	}
	for _, page := range pages(t) {
		check(page, code.ReplaceAllString(read(t, page), ""))
	}
	for _, file := range sources(t) {
		check(file, strings.Join(texts(t, file), " | "))
	}
	for _, folder := range []string{"config", "hack", "internal/reasons", "test/monitoring"} {
		for _, ext := range []string{".yaml", ".json"} {
			for _, file := range files(t, folder, ext) {
				check(file, comment.ReplaceAllString(read(t, file), " "))
			}
		}
	}
	for file := range quoted {
		if !needed[file] {
			t.Errorf("%s needs no exception any more", file)
		}
	}
}

// comment is where a comment of a YAML file begins on a line.
var comment = regexp.MustCompile(`(?m)^ *#`)

// sources are the Go files, relative to the repository.
func sources(t *testing.T) []string {
	t.Helper()
	folders := []string{"api", "cmd", "docs", "hack", "internal", "test", "tools/release"}
	lists := make([][]string, 0, len(folders))
	for _, folder := range folders {
		lists = append(lists, files(t, folder, ".go"))
	}
	found := slices.Concat(lists...)
	if len(found) < 100 {
		t.Fatalf("only %d source files were found", len(found))
	}
	return slices.DeleteFunc(found, func(file string) bool { return file == "docs/words_test.go" })
}

// files are those in a folder whose name ends like this, relative to the repository.
func files(t *testing.T, folder, ending string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ending) {
			relative, _ := filepath.Rel(root, path)
			found = append(found, relative)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// texts are the comments and strings of a source file, and of a test only the comments: its strings
// are names and data. Names of fields in tags are neither.
func texts(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, group := range file.Comments {
		found = append(found, group.Text())
	}
	if strings.HasSuffix(path, "_test.go") {
		return found
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok {
			field.Tag = nil
		}
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				found = append(found, text)
			}
		}
		return true
	})
	return found
}
