package security

import (
	"fmt"
	"net/http"
	"strings"
)

// Markdown is the tables as docs/reference/exposed-endpoints.md shows them.
func Markdown() string {
	var out strings.Builder
	out.WriteString("| token | how the test comes by it | answer to what is not open |\n|---|---|---|\n")
	for _, t := range Tokens {
		answer := "that of the last column below"
		if t.Refused != 0 {
			answer = status(t.Refused)
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", t.Name, t.Made, answer)
	}
	out.WriteString("\n| request | to a stranger | what that tells | to the operator |\n|---|---|---|---|\n")
	for _, r := range Requests {
		stranger, tells := statuses(r.Answers), r.What
		if !r.Open {
			stranger, tells = "401, 403", "who is not known or not allowed"
		}
		fmt.Fprintf(&out, "| `%s %s` | %s | %s | %s |\n", r.Method, r.Target(), stranger, tells, statuses(r.Answers))
	}
	out.WriteString("\n| port | validator | full node |\n|---|---|---|\n")
	for _, p := range Ports {
		fmt.Fprintf(&out, "| %s (%d) | %s | %s |\n", p.Name, p.Number, listens(p.Validator), listens(p.Full))
	}
	out.WriteString("\n| port | request | what for |\n|---|---|---|\n")
	for _, r := range PortRequests {
		asked := r.Method + " " + r.Path
		if r.Body != "" {
			asked = r.Body
		}
		fmt.Fprintf(&out, "| %d | `%s` | %s |\n", r.Port, asked, r.What)
	}
	return out.String()
}

func listens(open bool) string {
	if open {
		return "listens"
	}
	return "closed"
}

func status(code int) string { return fmt.Sprintf("%d %s", code, http.StatusText(code)) }

func statuses(codes []int) string {
	words := make([]string, len(codes))
	for i, code := range codes {
		words[i] = fmt.Sprint(code)
	}
	return strings.Join(words, ", ")
}
