package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/test/chaos"
)

// judgeBudget is about what the operator took down: pods that it deleted, by the audit log, and restarts of seid in pods
// that stayed.
func (r *chaosRun) judgeBudget(audited int64, blocks []chaos.Block, runs, ready []chaos.Run) {
	r.t.Helper()
	var moves []chaos.Move
	move := func(node, how string, at time.Time, drain time.Duration, back time.Time) {
		fleet, _, _ := strings.Cut(node, "-")
		moves = append(moves, chaos.Move{
			Fleet: fleet, Node: node, How: how, At: at, Served: chaos.Served(node, at, drain, runs, blocks, ready), Back: back,
		})
	}
	end := time.Now()
	deletions := r.operatorDeletions(audited)
	for _, d := range deletions {
		node := strings.TrimSuffix(d.ObjectRef.Name, "-0")
		move(node, "pod deleted", d.Received, 0, chaos.Back(node, d.Received, ready, end))
	}
	restarted := chaos.Restarts(runs, r.report.Events, r.nodes)
	for _, run := range restarted {
		move(run.Node, "seid restarted", run.To, restartDrain, chaos.Back(run.Node, run.To, runs, end))
	}
	served := 0
	for _, m := range moves {
		if m.Served {
			served++
		}
		r.t.Logf("%5.0fs %s: %s, served %t, back after %.0f s", m.At.Sub(r.report.Began).Seconds(), m.Node, m.How, m.Served, m.Back.Sub(m.At).Seconds())
	}
	r.verdict(fmt.Sprintf("the operator takes down %d node of a fleet at a time, of those that serve", fleetBudget),
		fmt.Sprintf("pods deleted by the operator: %d; restarts of seid in a pod that stayed: %d; of nodes that served: %d", len(deletions), len(restarted), served),
		chaos.OverBudget(moves, fleetBudget))
}

// operatorDeletions are the pods that the operator has deleted since the audit log had a size.
func (r *chaosRun) operatorDeletions(from int64) []auditedRequest {
	r.t.Helper()
	return slices.DeleteFunc(r.operatorRequests(from), func(request auditedRequest) bool {
		ref := request.ObjectRef
		return request.Verb != "delete" || ref.Resource != "pods" || ref.Namespace != r.namespace || request.ResponseStatus.Code >= http.StatusBadRequest
	})
}
