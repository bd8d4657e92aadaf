package security

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/sidecar/server"
)

var update = flag.Bool("update", false, "write the tables into docs/reference/exposed-endpoints.md")

// A new route is tried by strangers, or this fails.
func TestRequests_EveryRouteOfTheSidecar_IsTried(t *testing.T) {
	routes := server.Routes()
	if len(routes) < 10 {
		t.Fatalf("the sidecar has only %d routes", len(routes))
	}
	for _, route := range routes {
		tried := slices.ContainsFunc(Requests, func(r Request) bool {
			return r.Method == route.Method && r.Path == route.Path && r.Open == route.Public
		})
		if !tried {
			t.Errorf("no request tries %s %s (open: %v)", route.Method, route.Path, route.Public)
		}
	}
}

// What is open to everybody is said to be so, and has words for what it tells.
func TestRequests_OpenOnes_SayWhatTheyTell(t *testing.T) {
	for _, r := range Requests {
		if r.Tells == nil || len(r.Answers) == 0 || r.Open == (r.What == "") {
			t.Errorf("%s %s: %+v, want Tells not nil, some Answers and Open not %v", r.Method, r.Target(), r, (r.What == ""))
		}
	}
}

func TestPorts_EveryPortOfANode_IsTried(t *testing.T) {
	wanted := append(seid.AllPorts(), seid.Port{Name: "sidecar", Number: seid.PortSidecar})
	for _, port := range wanted {
		if !slices.ContainsFunc(Ports, func(p Port) bool { return p.Number == port.Number && p.Full }) {
			t.Errorf("no port %s (%d) in the table", port.Name, port.Number)
		}
	}
	for _, port := range seid.Ports(seid.ModeValidator) {
		if !slices.ContainsFunc(Ports, func(p Port) bool { return p.Number == port.Number && p.Validator }) {
			t.Errorf("port %s (%d) of a validator is not in the table", port.Name, port.Number)
		}
	}
}

const (
	begin = "<!-- tables of test/security; go test ./test/security -update writes them -->\n"
	end   = "<!-- end of the tables -->\n"
)

func TestDocs_ShowTheTables(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "reference", "exposed-endpoints.md")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(content), begin)
	shown, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("docs/reference/exposed-endpoints.md has no place for the tables")
	}
	want := "\n" + Markdown() + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("docs/reference/exposed-endpoints.md (-tables +page):\n%s", diff)
	}
}
