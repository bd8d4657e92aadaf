package platform

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// scheduling checks what the API server would refuse on the first StatefulSet.
// Affinity is left to the API server: its rules live there alone.
func (k *checker) scheduling(field string, s Scheduling) {
	k.dnsName(field+".priorityClassName", s.PriorityClassName)
	k.dnsName(field+".serviceAccountName", s.ServiceAccountName)
	for key, value := range s.NodeSelector {
		for _, msg := range append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...) {
			k.failf(field+".nodeSelector."+key, "is not a label: %s", msg)
		}
	}
	for i, t := range s.Tolerations {
		k.toleration(fmt.Sprintf("%s.tolerations[%d]", field, i), t)
	}
	for i, c := range s.TopologySpreadConstraints {
		k.spread(fmt.Sprintf("%s.topologySpreadConstraints[%d]", field, i), c)
	}
}

func (k *checker) toleration(field string, t corev1.Toleration) {
	operators := []corev1.TolerationOperator{
		"", corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt,
	}
	effects := []corev1.TaintEffect{"", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	switch {
	case !slices.Contains(operators, t.Operator):
		k.failf(field+".operator", "%q is none of Equal, Exists, Lt and Gt", t.Operator)
	case t.Operator == corev1.TolerationOpExists && t.Value != "":
		k.failf(field+".value", "operator Exists takes no value")
	case t.Operator != corev1.TolerationOpExists && t.Key == "":
		k.failf(field+".key", "is missing: only operator Exists goes without")
	}
	if !slices.Contains(effects, t.Effect) {
		k.failf(field+".effect", "%q is none of NoSchedule, PreferNoSchedule and NoExecute", t.Effect)
	}
}

func (k *checker) spread(field string, c corev1.TopologySpreadConstraint) {
	if c.MaxSkew < 1 {
		k.failf(field+".maxSkew", "must be at least 1")
	}
	if c.TopologyKey == "" {
		k.failf(field+".topologyKey", "is missing, for example topology.kubernetes.io/zone")
	}
	if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
		k.failf(field+".whenUnsatisfiable", "%q is neither DoNotSchedule nor ScheduleAnyway", c.WhenUnsatisfiable)
	}
}
