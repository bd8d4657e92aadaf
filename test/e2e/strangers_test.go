package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sei-operator/sei-operator/test/security"
)

// noToken is said of attempts on ports, where no token is asked for.
const noToken = "-"

// Strangers in the pod network, of the node's own namespace and of another one, try everything on a validator and on a
// full node, with every token that they may have come by. They get what test/security says, and nothing else.
func TestStrangers_WithTokensOfOthers_GetNothing(t *testing.T) {
	s := found(t, "strangers")
	s.create(s.validator("validator"))
	s.create(s.fullNode("full"))
	s.awaitInSync("validator")
	s.awaitInSync("full")
	s.awaitPorts("validator", func(p security.Port) bool { return p.Validator })
	s.awaitPorts("full", func(p security.Port) bool { return p.Full })

	other := &scenario{cluster: s.cluster, t: t, namespace: s.namespace + "-other", chain: s.chain}
	other.createNamespace()
	t.Cleanup(other.end)
	plan := s.planOfStrangers()
	for _, caller := range []*scenario{s, other} {
		caller.startProber(plan)
	}
	var table bytes.Buffer
	answers := map[string]map[int]int{}
	for _, caller := range []*scenario{s, other} {
		where := map[bool]string{true: "the same namespace", false: "another namespace"}[caller == s]
		outcomes := caller.outcomes(len(plan.tries))
		for i, try := range plan.tries {
			try.judge(t, where, outcomes[i])
			try.count(answers, outcomes[i])
		}
		fmt.Fprint(&table, tableOf(where, plan.tries, outcomes))
	}
	for _, token := range security.Tokens {
		theReport.figuref(t, "answers to what is not open, token "+string(token.Name), "%v", answers[string(token.Name)])
	}
	path := s.strangersTable()
	if err := os.WriteFile(path, table.Bytes(), 0o600); err != nil {
		t.Error(err)
	}
	theReport.figuref(t, "attempts of strangers", "%d from each of two namespaces, %d tokens, %d requests, %d ports; all of them in %s",
		len(plan.tries), len(security.Tokens), len(security.Requests), len(security.Ports), filepath.Base(path))
}

// strangersTable is the file with every attempt and its answer.
func (c *cluster) strangersTable() string {
	return filepath.Join(c.root, ".cache", "e2e-strangers.txt")
}

// try is an attempt on a node, and what has to come of it.
type try struct {
	security.Attempt
	node, token, what string
	// open says that everybody gets an answer.
	open bool
	// right says what is wrong with the outcome; empty when it is right.
	right func(security.Outcome) string
}

func (a try) judge(t *testing.T, where string, outcome security.Outcome) {
	t.Helper()
	if wrong := a.right(outcome); wrong != "" {
		t.Errorf("from %s, %s, token %s: %s: %s", where, a.node, a.token, a.what, wrong)
	}
}

// count adds the status to those that a token has got, if it was for something that is not open. In the clear all get
// the same.
func (a try) count(answers map[string]map[int]int, outcome security.Outcome) {
	if a.open || !strings.HasPrefix(a.URL, "https:") {
		return
	}
	if answers[a.token] == nil {
		answers[a.token] = map[int]int{}
	}
	answers[a.token][outcome.Status]++
}

// tableOf is what a caller got, with a line for each token and request.
func tableOf(where string, tries []try, outcomes []security.Outcome) string {
	var out strings.Builder
	fmt.Fprintf(&out, "from %s\n", where)
	for i, try := range tries {
		answer := strconv.Itoa(outcomes[i].Status)
		if try.URL == "" {
			answer = map[bool]string{true: "listens", false: "closed"}[outcomes[i].Connected]
		}
		fmt.Fprintf(&out, "  %-10s %-55s %-45s %s\n", try.node, try.token, try.what, answer)
	}
	return out.String()
}
