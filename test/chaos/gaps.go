package chaos

import (
	"slices"
	"time"
)

// Gap is the time between two blocks.
type Gap struct {
	// Height is that of the later block.
	Height   int64
	From, To time.Time
	// Able is the longest part of it in which enough validators ran without interruption.
	Able time.Duration
}

// Took is how long the chain stood.
func (g Gap) Took() time.Duration { return g.To.Sub(g.From) }

// Gaps are the times between blocks. A chain of validators with equal power makes blocks while more than two
// thirds of them run. While fewer do, it has to stand, however long; so what is bounded is the time for which
// it could have continued and did not. Starting, finding peers and catching up are part of that time.
func Gaps(blocks []Block, runs []Run, validators []string) []Gap {
	blocks = slices.Clone(blocks)
	slices.SortFunc(blocks, func(a, b Block) int { return int(a.Height - b.Height) })
	var gaps []Gap
	for i := 1; i < len(blocks); i++ {
		g := Gap{Height: blocks[i].Height, From: blocks[i-1].At, To: blocks[i].At}
		g.Able = able(g, runs, validators)
		gaps = append(gaps, g)
	}
	return gaps
}

// able is the longest stretch of the gap in which more than two thirds of the validators ran.
func able(g Gap, runs []Run, validators []string) time.Duration {
	moments := []time.Time{g.From, g.To}
	for _, r := range runs {
		for _, at := range []time.Time{r.From, r.To} {
			if at.After(g.From) && at.Before(g.To) {
				moments = append(moments, at)
			}
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	var longest, stretch time.Duration
	for i := 1; i < len(moments); i++ {
		up := 0
		for _, v := range validators {
			if running(runs, v, moments[i-1]) {
				up++
			}
		}
		if 3*up <= 2*len(validators) {
			stretch = 0
			continue
		}
		stretch += moments[i].Sub(moments[i-1])
		longest = max(longest, stretch)
	}
	return longest
}

// Over are the gaps in which the chain could have continued for longer than the bound.
func Over(gaps []Gap, bound time.Duration) []Gap {
	var over []Gap
	for _, g := range gaps {
		if g.Able > bound {
			over = append(over, g)
		}
	}
	return over
}
