package envtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// Request is one recorded API request.
type Request struct {
	Time        time.Time
	Duration    time.Duration
	Verb        string // as the API server calls it: get, list, watch, create, update, patch, delete, deletecollection
	Group       string
	Resource    string // plural, for example statefulsets; empty for requests like /version
	Subresource string
	Namespace   string
	Name        string
	Path        string
	Code        int // 0 when there was no answer
	UserAgent   string
	ContentType string
	DryRun      bool
}

// Target is the resource with its subresource, for example seinodes/status.
func (r Request) Target() string {
	if r.Subresource == "" {
		return cmp.Or(r.Resource, r.Path)
	}
	return r.Resource + "/" + r.Subresource
}

// String shows a request in one line.
func (r Request) String() string {
	return fmt.Sprintf("%s %s %s/%s -> %d", r.Verb, r.Target(), r.Namespace, r.Name, r.Code)
}

// IsWrite reports whether the request may change something.
func (r Request) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection", "post", "put"}, r.Verb)
}

// Requests is a list of recorded requests that can be narrowed step by step.
type Requests []Request

// Where keeps what the function says yes to.
func (rs Requests) Where(keep func(Request) bool) Requests {
	var kept Requests
	for _, r := range rs {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// Writes keeps what may change something.
func (rs Requests) Writes() Requests { return rs.Where(Request.IsWrite) }

// Reads keeps single reads: gets, and lists that are not the start of an
// informer. A list counts as an informer's when the same client watches the
// same resource next; those are in Watches.
func (rs Requests) Reads() Requests {
	watched := map[string]bool{}
	for _, r := range rs {
		if r.Verb == "watch" {
			watched[r.Path+r.UserAgent] = true
		}
	}
	return rs.Where(func(r Request) bool {
		return r.Resource != "" && (r.Verb == "get" || r.Verb == "list" && !watched[r.Path+r.UserAgent])
	})
}

// Watches keeps watches.
func (rs Requests) Watches() Requests {
	return rs.Where(func(r Request) bool { return r.Verb == "watch" })
}

// Of keeps requests for a resource; "seinodes/status" names a subresource, and
// "seinodes" only the resource itself.
func (rs Requests) Of(targets ...string) Requests {
	return rs.Where(func(r Request) bool { return slices.Contains(targets, r.Target()) })
}

// Without leaves out resources, for example leases and events.
func (rs Requests) Without(targets ...string) Requests {
	return rs.Where(func(r Request) bool { return !slices.Contains(targets, r.Target()) })
}

// Verb keeps requests with one of these verbs.
func (rs Requests) Verb(verbs ...string) Requests {
	return rs.Where(func(r Request) bool { return slices.Contains(verbs, r.Verb) })
}

// In keeps requests in a namespace.
func (rs Requests) In(namespace string) Requests {
	return rs.Where(func(r Request) bool { return r.Namespace == namespace })
}

// Named keeps requests for objects of a name.
func (rs Requests) Named(name string) Requests {
	return rs.Where(func(r Request) bool { return r.Name == name })
}

// Answered keeps requests that got one of these status codes.
func (rs Requests) Answered(codes ...int) Requests {
	return rs.Where(func(r Request) bool { return slices.Contains(codes, r.Code) })
}

// By counts requests by whatever the function names.
func (rs Requests) By(key func(Request) string) map[string]int {
	counts := map[string]int{}
	for _, r := range rs {
		counts[key(r)]++
	}
	return counts
}

// ByVerbAndTarget counts requests by, for example, "patch statefulsets".
func (rs Requests) ByVerbAndTarget() map[string]int {
	return rs.By(func(r Request) string { return r.Verb + " " + r.Target() })
}

// ByObject counts requests by "resource namespace/name".
func (rs Requests) ByObject() map[string]int {
	return rs.By(func(r Request) string { return r.Target() + " " + r.Namespace + "/" + r.Name })
}

// Table shows the requests counted by verb and resource, most frequent first,
// with the status codes that were not a success.
func (rs Requests) Table() string {
	type row struct{ count, failed int }
	rows := map[string]row{}
	for _, r := range rs {
		key := r.Verb + "\t" + r.Target()
		entry := rows[key]
		entry.count++
		if r.Code >= 400 || r.Code == 0 {
			entry.failed++
		}
		rows[key] = entry
	}
	keys := make([]string, 0, len(rows))
	for k := range rows {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(rows[b].count-rows[a].count, strings.Compare(a, b)) })
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "verb\tresource\trequests\tnot successful")
	for _, k := range keys {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\n", k, rows[k].count, rows[k].failed)
	}
	_, _ = fmt.Fprintf(w, "all\t\t%d\n", len(rs))
	_ = w.Flush()
	return b.String()
}

// RequireNone fails the test when there are requests, and lists them.
func (rs Requests) RequireNone(tb testing.TB, what string) {
	tb.Helper()
	if len(rs) == 0 {
		return
	}
	lines := make([]string, 0, len(rs))
	for _, r := range rs {
		lines = append(lines, r.String())
	}
	tb.Errorf("%s: want no requests, got %d:\n%s", what, len(rs), strings.Join(lines, "\n"))
}
