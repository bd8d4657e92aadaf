package envtest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// UsesVariable names the folder into which every package of tests writes what its operators asked of
// the API server. test/permissions compares it with the roles. Empty means that nothing is written.
const UsesVariable = "ENVTEST_USES"

// Use is a kind of request, in the words of a role.
type Use struct {
	Group string `json:"group"`
	// Resource is with its subresource, for example seinodes/status.
	Resource string `json:"resource"`
	Verb     string `json:"verb"`
}

// String shows a use in one line.
func (u Use) String() string { return strings.TrimSpace(u.Verb + " " + u.Resource + " " + u.Group) }

// uses are all that recorders of this process have seen allowed.
var uses struct {
	sync.Mutex
	seen map[Use]bool
}

func noteUse(r Request) {
	if r.Resource == "" || r.Code == 0 || r.Code == http.StatusForbidden || r.Code == http.StatusUnauthorized {
		return
	}
	uses.Lock()
	defer uses.Unlock()
	if uses.seen == nil {
		uses.seen = map[Use]bool{}
	}
	uses.seen[Use{Group: r.Group, Resource: r.Target(), Verb: r.Verb}] = true
	if r.Verb == "patch" && r.Code == http.StatusCreated { // an apply that creates needs both
		uses.seen[Use{Group: r.Group, Resource: r.Target(), Verb: "create"}] = true
	}
}

// writeUses leaves what was used in the folder, under the name of the package.
func writeUses(folder string) error {
	uses.Lock()
	defer uses.Unlock()
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".test") + ".json"
	return WriteUses(filepath.Join(folder, name), slices.Collect(maps.Keys(uses.seen)), OnlySome())
}

// WriteUses leaves uses in a file, or adds them to what the file has: for a run of some tests, which may be
// another try of those that have failed.
func WriteUses(file string, list []Use, add bool) error {
	if add {
		before, err := ReadUses(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		list = slices.Concat(list, before)
	}
	slices.SortFunc(list, func(a, b Use) int { return strings.Compare(a.String(), b.String()) })
	content, err := json.MarshalIndent(slices.Compact(list), "", "  ")
	if err != nil {
		return fmt.Errorf("encoding what was used: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return fmt.Errorf("making a folder for what was used: %w", err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return fmt.Errorf("writing what was used: %w", err)
	}
	return nil
}

// ReadUses reads such a file.
func ReadUses(file string) ([]Use, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading what was used: %w", err)
	}
	var list []Use
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("reading what was used from %s: %w", file, err)
	}
	return list, nil
}

// OnlySome reports whether this is a run of the tests that -run names.
func OnlySome() bool { return flag.Lookup("test.run").Value.String() != "" }
