package chart

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// scale is the axis of values: from a round number to a round number, in round steps.
type scale struct{ low, high, step float64 }

// scaleOf begins at 0, unless all values are far from it, as those of a height are.
func scaleOf(lines []Line) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.Points {
			if finite(p.Value) {
				low, high = min(low, p.Value), max(high, p.Value)
			}
		}
	}
	if math.IsInf(low, 1) {
		return scale{0, 1, 1}
	}
	if low >= 0 && low < 0.8*high || low == high {
		low = min(low, 0)
	}
	if high == low {
		high = low + 1
	}
	step := roundStep((high - low) / 3)
	return scale{low: math.Floor(low/step) * step, high: math.Ceil(high/step) * step, step: step}
}

// roundStep is the smallest of 1, 2, 5, 10, 20 ... that is not below a size.
func roundStep(size float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(size)))
	for _, factor := range []float64{1, 2, 5} {
		if step := factor * power; step >= size*(1-1e-9) {
			return step
		}
	}
	return 10 * power
}

func (s scale) share(value float64) float64 { return (value - s.low) / (s.high - s.low) }

func (s scale) ticks() []float64 {
	var found []float64
	for i := 0; i <= int(math.Round((s.high-s.low)/s.step)); i++ {
		found = append(found, s.low+float64(i)*s.step)
	}
	return found
}

// timeStep leaves room for the labels of an axis of time.
func timeStep(length time.Duration, width float64) (step time.Duration, format string) {
	const label = 62
	steps := []time.Duration{
		10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	}
	for _, step = range steps {
		if length.Seconds()/step.Seconds()*label <= width {
			break
		}
	}
	if step < time.Minute {
		return step, "15:04:05"
	}
	return step, "15:04"
}

// units are what stands behind a number, and by what it is multiplied first.
var units = map[string]struct {
	suffix string
	factor float64
}{
	"s": {" s", 1}, "d": {" d", 1}, "percentunit": {" %", 100}, "bytes": {" MB", 1e-6}, "ops": {"/s", 1}, "wps": {"/s", 1}, "reqps": {"/s", 1},
}

// number is a value as precise as a smaller one asks for: the step of an axis, or the value itself.
func number(v, precision float64, unit string) string {
	suffix := ""
	if u, known := units[unit]; known {
		v, precision, suffix = v*u.factor, precision*u.factor, u.suffix
	}
	digits := strconv.FormatFloat(v, 'f', decimals(precision), 64)
	if strings.Contains(digits, ".") {
		digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
	}
	return digits + suffix
}

// decimals keeps about three digits that tell something.
func decimals(v float64) int {
	if v == 0 || math.Abs(v) >= 100 {
		return 0
	}
	return min(2-int(math.Floor(math.Log10(math.Abs(v)))), 6)
}
