package schema

import (
	"fmt"
	"strings"
	"testing"
)

// pair is an object that is walked, and a place to make new ones.
type pair struct {
	walked, fresh *stage
	spec          map[string]any
	before        map[string][]string
	reconciles    int
}

func newPair(t *testing.T, b base, reconciles int) *pair {
	t.Helper()
	p := &pair{walked: newStage(t, b), fresh: newStage(t, b), spec: b.manifest(t), reconciles: reconciles}
	p.begin()
	return p
}

// on has what fails fail another test.
func (p *pair) on(t *testing.T) {
	t.Helper()
	p.walked.T, p.fresh.T = t, t
}

// begin makes the object that is walked.
func (p *pair) begin() {
	p.walked.make(p.spec)
	p.walked.settle()
	p.before = p.walked.steady()
}

// walk is one field's.
type walk struct {
	*pair

	t      *testing.T
	field  field
	note   note
	result *result
	// moved is set while the object has another value than it had before.
	moved bool
}

func (p *pair) newWalk(t *testing.T, f field, r *result) *walk {
	t.Helper()
	return &walk{pair: p, t: t, field: f, note: about(f), result: r}
}

// all gives the field one value after another, and then the old one.
func (w *walk) all() {
	w.t.Helper()
	fit, unfit := w.note.valuesOf(w.t, w.field)
	if len(fit) == 0 {
		w.t.Fatalf("no value of %s can be generated: give some in table_test.go", w.field)
	}
	for i, value := range fit {
		w.step(value, w.note.class == walked, i == len(fit)-1)
	}
	w.back()
	for _, value := range unfit {
		if w.step(value, false, false) {
			w.back()
		}
	}
}

// with is the spec with a value at the field, and with what has to be beside it.
func (w *walk) with(value any) map[string]any {
	beside := decode(w.t, w.note.with)
	if _, is := w.field.inTemplate(); is && beside != nil {
		beside = map[string]any{"template": map[string]any{"spec": beside}}
	}
	return w.field.place(w.t, overlay(w.spec, beside), w.note.key, value)
}

// step gives the field a value, and reports whether it was taken. One that must do has to come into
// force; others may be refused, or reported.
func (w *walk) step(value any, must, last bool) bool {
	w.t.Helper()
	w.result.values++
	spec := w.with(value)
	if err := w.walked.change(spec, true); err != nil {
		w.result.refused++
		if must {
			w.t.Fatalf("%v is refused: %v", value, err)
		}
		if !w.field.namedIn(err.Error()) {
			w.t.Errorf("%v is refused without naming %s: %v", value, w.field.last(), err)
		}
		return false
	}
	if err := w.walked.change(spec, false); err != nil {
		w.t.Fatalf("%v is taken when only asked for, and then not: %v", value, err)
	}
	w.moved = true
	var words []string
	if !must {
		words = []string{w.field.last(), fmt.Sprint(value)}
	}
	if reported := w.walked.settle(words...); reported != "" {
		w.result.reported++
		w.t.Logf("%v is reported: %s", value, reported)
		return true
	}
	w.result.inForce++
	w.t.Logf("%v is in force", value)
	if w.note.class == refused {
		w.t.Errorf("%v is taken", value)
	}
	if last && w.note.notNew == "" {
		w.asNew(value, spec)
	}
	if last {
		w.walked.silent(w.reconciles)
	}
	return true
}

// asNew wants the object to be what a new one with its spec is.
func (w *walk) asNew(value any, spec map[string]any) {
	w.t.Helper()
	w.result.compared++
	w.fresh.make(spec)
	w.fresh.settle()
	want := w.fresh.steady()
	w.walked.becomes(fmt.Sprintf("with %v it is not what a new one is", value), want)
	w.fresh.clear()
}

// back puts the old spec back, or wants to be told why it cannot be.
func (w *walk) back() {
	w.t.Helper()
	if !w.moved {
		return
	}
	w.moved = false
	if w.note.stays != "" {
		if err := w.walked.change(w.spec, true); err == nil || !strings.Contains(err.Error(), w.note.stays) {
			w.t.Errorf("putting the old value back: %v; want to be told that it %s", err, w.note.stays)
		}
		w.walked.clear()
		w.begin()
		return
	}
	if err := w.walked.change(w.spec, false); err != nil {
		w.t.Fatalf("the old value cannot be put back: %v", err)
	}
	w.walked.settle()
	w.walked.becomes("with the old value it is not as before", w.before)
	w.walked.silent(w.reconciles)
}
