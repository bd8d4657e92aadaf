package walk

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// pause is what comes between an event and the next.
type pause string

const (
	// rest waits until the operator has nothing more to do.
	rest pause = "rest"
	// moment waits until the operator has begun to do something.
	moment pause = "moment"
	// now waits for nothing.
	now pause = "now"
)

// pauses begin with the one that a failing walk is shrunk to: what happens after a rest depends on the
// schedule least.
var pauses = []pause{rest, moment, now}

// drawn has every other event come after a rest, which some checks need.
var drawn = []pause{rest, rest, moment, now}

// event is one thing that happens, in one of its variants.
type event struct {
	what string
	arg  int
	then pause
}

func (e event) String() string { return fmt.Sprintf("%s/%d/%s", e.what, e.arg, e.then) }

// plan is a walk to be made: who is led through what.
type plan struct {
	subject string
	events  []event
}

// String is how a walk is named in a replay.
func (p plan) String() string {
	words := append(make([]string, 0, 1+len(p.events)), p.subject)
	for _, e := range p.events {
		words = append(words, e.String())
	}
	return strings.Join(words, " ")
}

// parse reads what String has written.
func parse(text string) (plan, error) {
	words := strings.Fields(text)
	if len(words) == 0 || subjectNamed(words[0]) == nil {
		return plan{}, fmt.Errorf("%q begins with none of %v", text, subjectNames())
	}
	p := plan{subject: words[0]}
	for _, word := range words[1:] {
		parts := strings.Split(word, "/")
		if len(parts) != 3 {
			return plan{}, fmt.Errorf("%q is not event/variant/pause", word)
		}
		arg, err := strconv.Atoi(parts[1])
		e := event{what: parts[0], arg: arg, then: pause(parts[2])}
		if a := actionNamed(e.what); err != nil || a == nil || !a.fits(p.subject) || arg < 0 || arg >= a.variants || !slices.Contains(pauses, e.then) {
			return plan{}, fmt.Errorf("%q cannot happen to %s", word, p.subject)
		}
		p.events = append(p.events, e)
	}
	return p, nil
}

// A walk has so many events before it is shrunk. What sequences of four do not show is rarely shown by
// longer ones; some more lead to where the four can happen.
const fewestEvents, mostEvents = 4, 10

// nothing is what an event is shrunk to.
var nothing = &action{name: "nothing", variants: 1}

// draw draws a walk.
func draw(t *rapid.T, subjects []string) plan {
	p := plan{subject: oneOf(t, subjects, "subject")}
	of := []*action{nothing}
	for _, a := range alphabet {
		if a.fits(p.subject) {
			of = append(of, slices.Repeat([]*action{a}, 1+a.often)...)
		}
	}
	one := rapid.Custom(func(t *rapid.T) event {
		a := oneOf(t, of, "event")
		return event{a.name, index(t, a.variants, "variant"), oneOf(t, drawn, "pause")}
	})
	p.events = rapid.SliceOfN(one, fewestEvents, mostEvents).Draw(t, "events")
	p.events = slices.DeleteFunc(p.events, func(e event) bool { return e.what == nothing.name })
	return p
}

// index draws a number below n. All are as likely, where rapid's own draws prefer the first.
func index(t *rapid.T, n int, label string) int {
	const bits = 10
	at := 0
	for _, bit := range rapid.SliceOfN(rapid.Bool(), bits, bits).Draw(t, label) {
		if at *= 2; bit {
			at++
		}
	}
	return at * n >> bits
}

func oneOf[T any](t *rapid.T, of []T, label string) T { return of[index(t, len(of), label)] }
