package fault

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/test/fault/internal/describe"
)

// picture is what a scenario has led to, without what differs from one run to the next.
type picture struct {
	// Objects are the objects of the namespace by kind and name, one line per field.
	Objects map[string][]string
	// Made and Gone count the objects that were made and deleted.
	Made, Gone map[string]int
	// Nodes is what is on the volumes and runs.
	Nodes map[string]nodePicture
	// Tasks counts the tasks that the sidecars were given, by node and type, each id once.
	Tasks map[string]int
}

// lines are the picture's facts, each in one line.
func (p *picture) lines() []string {
	var all []string
	for name, fields := range p.Objects {
		all = append(all, name)
		for _, field := range fields {
			all = append(all, name+" "+field)
		}
	}
	for what, counts := range map[string]map[string]int{"Made": p.Made, "Gone": p.Gone, "Tasks": p.Tasks} {
		for name, times := range counts {
			all = append(all, fmt.Sprintf("%s %s: %d", what, name, times))
		}
	}
	for name, is := range p.Nodes {
		all = append(all, fmt.Sprintf("Nodes %s: %+v", name, is))
	}
	slices.Sort(all)
	return all
}

// difference shows the lines in which another picture differs. Of an object that only one has, the
// name will do.
func (p *picture) difference(other *picture) string {
	var b strings.Builder
	show := func(sign string, of, without *picture) {
		known, absent := without.lines(), "\n"
		for _, line := range of.lines() {
			if _, found := slices.BinarySearch(known, line); found || strings.HasPrefix(line, absent+" ") {
				continue
			}
			if _, isObject := of.Objects[line]; isObject {
				absent = line
			}
			fmt.Fprintf(&b, "%s %s\n", sign, line)
		}
	}
	show("-", p, other)
	show("+", other, p)
	return b.String()
}

// nodePicture is what no object reports a node.
type nodePicture struct {
	Stage, Seid, Mode string
	Open, StateSync   bool
	// Starts is how often seid was started.
	Starts     int
	Overrides  map[string]string
	RestartDue []string
}

func (r *run) picture() *picture {
	r.T.Helper()
	p := &picture{Objects: map[string][]string{}, Nodes: map[string]nodePicture{}, Tasks: map[string]int{}}
	p.Made, p.Gone = r.census.counts()
	names := newNames(r.NS)
	for _, kind := range describe.Kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		list.SetKind(kind.Kind + "List")
		if err := r.Client.List(r.T.Context(), list, client.InNamespace(r.NS)); err != nil {
			r.T.Fatal(err)
		}
		for _, item := range list.Items {
			if strings.HasPrefix(item.GetName(), "kube-") {
				continue
			}
			if kind.Kind == v1alpha1.KindSeiNode {
				p.Nodes[item.GetName()] = r.nodePicture(item.GetName(), names)
				takeLastPlan(&item)
			}
			p.Objects[kind.Kind+" "+names.Name(&item)] = names.Describe(&item)
		}
	}
	seen := map[string]bool{}
	for _, q := range r.Sidecars.Requests("") {
		if q.Type != "" && q.Status == http.StatusCreated && !seen[q.Node+q.Task] {
			seen[q.Node+q.Task] = true
			p.Tasks[strings.TrimPrefix(q.Node, r.NS+"/")+" "+string(q.Type)]++
		}
	}
	return p
}

// takeLastPlan takes out of a node which plan was its last, and which configuration that led to. A plan that was
// superseded leaves to another what is missing then, such as to open the gate, so that two runs need not have as many
// plans, nor one that applied the pod template as their last. And peers that were found while a plan ran are part of what
// it led to, or not. What is in force is in the rest of the status.
func takeLastPlan(node *unstructured.Unstructured) {
	unstructured.RemoveNestedField(node.Object, "status", "lastPlan", "id")
	unstructured.RemoveNestedField(node.Object, "status", "lastPlan", "target", "configHash")
}

// hasOrphans reports whether the garbage collector still has something to do.
func (r *run) hasOrphans() bool {
	r.T.Helper()
	there, owners := map[types.UID]bool{}, map[types.UID]bool{}
	for _, kind := range describe.Kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		list.Kind += "List"
		if err := r.Client.List(r.T.Context(), list, client.InNamespace(r.NS)); err != nil {
			r.T.Fatal(err)
		}
		for _, item := range list.Items {
			there[item.UID] = true
			for _, owner := range item.OwnerReferences {
				owners[owner.UID] = true
			}
		}
	}
	for owner := range owners {
		if !there[owner] {
			return true
		}
	}
	return false
}

func (r *run) nodePicture(name string, names *describe.Names) nodePicture {
	key := r.Key(name)
	home, process, disk := r.Sidecars.Home(key), r.Sidecars.Process(key), r.Sidecars.Disk(key)
	overrides := maps.Clone(disk.Overrides)
	for option, value := range overrides {
		overrides[option] = names.WithoutNamespace(value)
	}
	return nodePicture{
		Stage: string(home.Stage), Seid: string(process.State), Mode: disk.Mode, Open: r.Sidecars.Ready(key), StateSync: disk.StateSync,
		Starts: len(r.Sidecars.Starts(key)), Overrides: overrides, RestartDue: process.RestartDue,
	}
}
