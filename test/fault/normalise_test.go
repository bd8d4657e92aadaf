package fault

import (
	"maps"
	"strings"

	domain "github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/test/fault/internal/describe"
)

// newNames describes all but what these tests write themselves.
func newNames(namespace string) *describe.Names {
	return describe.NewNames(namespace, annotationForced, annotationTouched)
}

// excuse takes out what may differ from the undisturbed end although it is compared.
//
// Fewer tasks: a plan that was recreated after a crash asks only for what is missing, where the first
// one did everything in turn. That it was done shows in the rest of the picture. More tasks: a sidecar
// that has lost its store is given again what it does not know any more. Another last plan: its gate is
// closed too, and it has forgotten which restart was asked for. When that was noticed after the plan had
// ended, another one opened the gate, or restarted seid. One more start of seid: a store that was lost when
// a task had ended seid knows nothing of that.
func (p *picture) excuse(undisturbed *picture, by *disturbance) {
	if by.forgets() {
		p.Tasks = maps.Clone(undisturbed.Tasks) // many runs share it
		p.excuseReopening(undisturbed)
		p.excuseRestart(undisturbed)
	}
	for name, times := range undisturbed.Tasks {
		p.Tasks[name] = max(p.Tasks[name], times)
	}
}

// excuseReopening takes a last plan that opened the gate or restarted seid for the one of the undisturbed end. That
// seid was started as often as there is part of the rest.
func (p *picture) excuseReopening(undisturbed *picture) {
	for name, fields := range p.Objects {
		want := undisturbed.Objects[name]
		for i := range min(len(fields), len(want)) {
			path, value, _ := strings.Cut(fields[i], ": ")
			again := value == domain.ReasonSidecarNotReady || value == domain.ReasonRestartDue
			if again && strings.HasPrefix(want[i], path+": ") {
				fields[i] = want[i]
			}
		}
	}
}

// excuseRestart takes one more start of seid for none, where a task restarts it.
func (p *picture) excuseRestart(undisturbed *picture) {
	for name, want := range undisturbed.Nodes {
		is, found := p.Nodes[name]
		if found && undisturbed.Tasks[name+" "+string(api.RestartSeid)] > 0 && is.Starts == want.Starts+1 {
			is.Starts = want.Starts
			p.Nodes[name] = is
		}
	}
}
