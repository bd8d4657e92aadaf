package walk

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// operatorActions happen to the operator.
var operatorActions = []*action{
	{name: "operator-restarted", variants: 1, calm: true, do: func(w *walk, _ int) { w.stopOperator(); w.startOperator() }},
	{name: "operator-upgraded", variants: 3, calm: true, do: (*walk).upgradeOperator},
	{name: "operator-away", variants: 1, calm: true, do: func(w *walk, _ int) { w.stopOperator() }},
	{name: "operator-back", variants: 1, calm: true, do: func(w *walk, _ int) { w.startOperator() }},
	{name: "two-operators", variants: 2, calm: true, do: (*walk).addOperator},
	{name: "one-operator", variants: 1, calm: true, do: func(w *walk, _ int) { w.endSecond() }},
	{name: "cache-late", variants: len(late), do: func(w *walk, v int) {
		w.Watches.Hold(late[v])
		w.repairs["cache "+late[v]] = func() { w.Watches.Release(late[v]) }
	}},
	{name: "cache-relists", variants: len(late), do: func(w *walk, v int) {
		w.Watches.Expire(late[v])
		delete(w.repairs, "cache "+late[v])
	}},
}

// late are the kinds of which the operator may hear late.
var late = []string{"pods", "seinodes", "statefulsets", "persistentvolumeclaims"}

// setPlatform gives operators that start from now on a configuration: the standard one, another default
// image of the sidecar, or a platform file with other resources and another size of volumes.
func (w *walk) setPlatform(variant int) {
	config := w.standard
	switch variant {
	case 1:
		config.Images.Sidecar = "sidecar:2"
	case 2:
		config.Resources.Sidecar.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("77m")}
	}
	w.Platform = &config
}

func (w *walk) upgradeOperator(variant int) {
	w.T.Helper()
	w.stopOperator()
	w.setPlatform(variant)
	w.startOperator()
}

func (w *walk) stopOperator() {
	w.T.Helper()
	w.releaseCaches()
	w.Stop()
	w.away = true
}

// startOperator starts an operator if none runs. Its caches have to be filled, so nothing is held back.
func (w *walk) startOperator() {
	w.T.Helper()
	if !w.away {
		return
	}
	w.releaseCaches()
	w.StartOperator()
	w.away = false
}

func (w *walk) releaseCaches() {
	for _, resource := range late {
		w.repair("cache " + resource)
	}
}

// addOperator runs a second operator beside the first, as it is or with another default image.
func (w *walk) addOperator(variant int) {
	w.T.Helper()
	if w.second != nil {
		return
	}
	w.releaseCaches()
	first := w.Platform
	w.setPlatform(variant)
	second, err := w.Launch(w.Config, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Platform, w.second = first, second
}

func (w *walk) endSecond() {
	w.T.Helper()
	if w.second == nil {
		return
	}
	w.releaseCaches()
	if err := w.second.Stop(); err != nil {
		w.T.Fatal(err)
	}
	w.second = nil
}
