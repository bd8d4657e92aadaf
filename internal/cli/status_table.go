package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/sei-operator/sei-operator/internal/cli/live"
)

// Of a sentence this much is shown without -o wide: as much as fits the terminal, between these bounds.
const (
	detailWidth   = 72
	detailMinimum = 24
)

// newVolume stands in DAYS LEFT of a volume that is less than a day old.
const newVolume = "new"

// statusTable draws the tree fleet > node > pod and plan.
type statusTable struct {
	table
	wide       bool
	namespaces bool
}

func newStatusTable(wide, namespaces bool) *statusTable {
	t := &statusTable{wide: wide, namespaces: namespaces}
	t.columns = []column{
		{name: "NAME"},
		{name: "READY"},
		{name: "STATUS"},
		{name: "HEIGHT"},
		{name: "LAG"},
		{name: "PEERS"},
		{name: "APP HASH"},
		{name: "DISK"},
		{name: "DAYS LEFT"},
		{name: "IMAGE"},
		{name: "SYNC", wide: true},
		{name: "MACHINE", wide: true},
		{name: "DETAIL"},
	}
	return t
}

// printStatus draws a report and, below it, why facts are missing. Sentences are cut so that lines are not wider than the
// terminal; 0 is one without an end.
func printStatus(w io.Writer, report *StatusReport, wide, namespaces bool, terminal int) error {
	t := newStatusTable(wide, namespaces)
	for i := range report.Fleets {
		t.fleet(&report.Fleets[i])
	}
	for i := range report.Nodes {
		t.node(&report.Nodes[i], "", "")
	}
	if terminal > 0 && !wide {
		last := len(t.columns) - 1
		t.cutColumn(last, max(terminal-t.before(last), detailMinimum))
	}
	if err := t.print(w, wide); err != nil {
		return err
	}
	if len(report.Notes) == 0 {
		return nil
	}
	notes := saidOnce(report.Notes, func(note string) (string, string) {
		node, words, _ := strings.Cut(note, ": ")
		return node, words
	})
	_, err := fmt.Fprintf(w, "\nNot known (shown as %s):\n  %s\n", unknown, strings.Join(notes, "\n  "))
	return err
}

func (t *statusTable) named(kind, namespace, name string) string {
	if t.namespaces {
		return kind + "/" + namespace + "/" + name
	}
	return kind + "/" + name
}

func (t *statusTable) fleet(f *FleetStatus) {
	height, lag, disk, days := "", "", "", ""
	if top := extreme(f.Nodes, func(n *NodeStatus) *int64 { return factsOf(n).Height }, true); top != nil {
		height = number(top)
		lag = number(extreme(f.Nodes, func(n *NodeStatus) *int64 { return factsOf(n).Lag }, true))
	}
	if full := extreme(f.Nodes, diskUsed, true); full != nil {
		disk = number(full) + "%"
	}
	if least := extreme(f.Nodes, func(n *NodeStatus) *int64 { return n.DiskDaysLeft }, false); least != nil {
		days = number(least)
	} else if slices.ContainsFunc(f.Nodes, func(n NodeStatus) bool { return n.diskNew }) {
		days = newVolume
	}
	t.add(t.named("fleet", f.Namespace, f.Name), fmt.Sprintf("%d/%d", f.Ready, f.Replicas), f.Phase, height, lag, blank, f.AppHashes, disk, days,
		t.image(f.Image), blank, blank, t.cut(sentences(rolloutMessage(f.Rollout), f.Upgrade.words(t.wide))))
	if f.Plan != nil {
		t.plan(f.Plan, branch(len(f.Nodes) == 0))
	}
	for i := range f.Nodes {
		last := i == len(f.Nodes)-1
		t.node(&f.Nodes[i], branch(last), stem(last))
	}
}

func (t *statusTable) node(n *NodeStatus, prefix, below string) {
	facts := factsOf(n)
	disk, days := "", ""
	if used := diskUsed(n); used != nil {
		disk = number(used) + "%"
	}
	switch {
	case n.DiskDaysLeft != nil:
		days = number(n.DiskDaysLeft)
	case n.diskNew:
		days = newVolume
	}
	detail := ""
	if n.Ready != "True" {
		detail = n.Message
	}
	t.add(prefix+t.named("node", n.Namespace, n.Name), n.Ready, n.Reason, number(facts.Height), number(facts.Lag), number(facts.Peers),
		string(n.AppHash), disk, days, t.images(n), facts.SyncState, blank, t.cut(sentences(detail, n.Upgrade.words(t.wide))))
	for i := range n.Pods {
		t.pod(&n.Pods[i], below+branch(i == len(n.Pods)-1 && n.Plan == nil))
	}
	if n.Plan != nil {
		t.plan(n.Plan, below+branch(true))
	}
}

func (t *statusTable) pod(p *PodDetail, prefix string) {
	detail := "up " + duration.HumanDuration(p.Age.Duration)
	if p.Restarts > 0 {
		detail += fmt.Sprintf(", %d restarts", p.Restarts)
	}
	t.add(prefix+"pod/"+p.Name, fmt.Sprintf("%d/%d", p.Ready, p.Containers), p.Status, blank, blank, blank, blank, blank, blank, blank, blank, p.Machine, detail)
}

func (t *statusTable) plan(p *PlanDetail, prefix string) {
	detail := fmt.Sprintf("%s for %s", p.Task, duration.HumanDuration(p.TaskElapsed.Duration))
	if p.WaitsFor != "" {
		detail += ": " + p.WaitsFor
	}
	t.add(prefix+"plan/"+p.Reason, fmt.Sprintf("%d/%d", p.Step, p.Steps), p.Phase, blank, blank, blank, blank, blank, blank, blank, blank, blank, t.cut(detail))
}

// images is what the pod runs, and what it should run if that is something else.
func (t *statusTable) images(n *NodeStatus) string {
	switch n.Image {
	case n.TargetImage:
		return t.image(n.Image)
	case "":
		return unknown + " -> " + t.image(n.TargetImage)
	default:
		return t.image(n.Image) + " -> " + t.image(n.TargetImage)
	}
}

// image is the last part of an image's name, which tells versions apart.
func (t *statusTable) image(name string) string {
	if t.wide {
		return name
	}
	return name[strings.LastIndex(name, "/")+1:]
}

func (t *statusTable) cut(sentence string) string {
	return cmp.Or(cut(sentence, detailWidth, t.wide), blank)
}

// sentences puts those together that there are.
func sentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "; ")
}

func rolloutMessage(r *RolloutDetail) string {
	if r == nil {
		return ""
	}
	words := fmt.Sprintf("%d/%d updated in %s", r.Updated, r.Total, duration.HumanDuration(r.Elapsed.Duration))
	if r.Paused {
		words += ", paused"
	}
	if r.WaitingOn != "" {
		words += ", waits for " + r.WaitingOn
	}
	return words
}

func branch(last bool) string {
	if last {
		return "└─ "
	}
	return "├─ "
}

func stem(last bool) string {
	if last {
		return "   "
	}
	return "│  "
}

func factsOf(n *NodeStatus) live.Facts {
	if n.Live == nil {
		return live.Facts{}
	}
	return *n.Live
}

func diskUsed(n *NodeStatus) *int64 {
	disk := factsOf(n).Disk
	if disk == nil {
		return nil
	}
	used := disk.UsedPercent()
	return &used
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// extreme is the highest or lowest of what is known of the nodes; nil when nothing is.
func extreme(nodes []NodeStatus, of func(*NodeStatus) *int64, highest bool) *int64 {
	var found *int64
	for i := range nodes {
		value := of(&nodes[i])
		if value != nil && (found == nil || (*value > *found) == highest) {
			found = value
		}
	}
	return found
}
