package render_test

import (
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/render"
)

func TestPod_NodesWithClients_AnswerOnWhileTheirServicesForgetThem(t *testing.T) {
	for name, n := range everyNode() {
		serves := n.Spec.Validator == nil && n.Spec.Seed == nil
		spec := podSpec(t, input(n))
		for _, c := range containers(spec) {
			late := c.Lifecycle != nil && c.Lifecycle.PreStop != nil && c.Lifecycle.PreStop.Sleep != nil
			if want := serves && c.Name == "seid"; late != want {
				t.Errorf("%s: container %s stops late: %t, want %t", name, c.Name, late, want)
			}
			if late && c.Lifecycle.PreStop.Sleep.Seconds*10 > *spec.TerminationGracePeriodSeconds {
				t.Errorf("%s: %d s of %d are left to wait, and seid has to write its state down", name,
					c.Lifecycle.PreStop.Sleep.Seconds, *spec.TerminationGracePeriodSeconds)
			}
		}
	}
}

// What the kubelet has to be told three times cannot take effect before the third.
func TestRestartDrain_IsLongerThanTheProbesNeed(t *testing.T) {
	for name, n := range everyNode() {
		drain := render.RestartDrain(n)
		if n.Spec.Validator != nil || n.Spec.Seed != nil {
			if drain != 0 {
				t.Errorf("%s has no clients and drains for %s", name, drain)
			}
			continue
		}
		c := containers(podSpec(t, input(n)))["seid"]
		probe, margin := c.ReadinessProbe, c.Lifecycle.PreStop.Sleep.Seconds
		if want := time.Duration(int64(probe.PeriodSeconds*probe.FailureThreshold)+margin) * time.Second; drain < want {
			t.Errorf("%s: drains for %s, want %s", name, drain, want)
		}
	}
}

// A bootstrap Job has no clients, and its end is what is waited for.
func TestBootstrapJob_StopsAtOnce(t *testing.T) {
	for name, n := range everyNode() {
		if source := n.Spec.Snapshot(); source == nil || source.BootstrapImage == "" {
			continue
		}
		for _, c := range job(t, input(n)).Spec.Template.Spec.Containers {
			if c.Lifecycle != nil {
				t.Errorf("%s: container %s has lifecycle %+v", name, c.Name, c.Lifecycle)
			}
		}
	}
}
