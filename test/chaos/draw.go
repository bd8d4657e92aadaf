package chaos

import (
	"math/rand/v2"
	"time"
)

// Act is a disturbance of the alphabet.
type Act struct {
	Name string
	// Times is how often it is in a deck.
	Times int
	// Lasts is how long it takes until it is undone, at least and at most; zero for what is over at once.
	Lasts [2]time.Duration
}

// Step is an act that was drawn.
type Step struct {
	// After is when, counted from the beginning of the run.
	After time.Duration
	Act   string
	// Pick chooses among what the act may hit.
	Pick int
	// Lasts is when it is undone, counted from its own beginning; zero for never.
	Lasts time.Duration
}

// Pauses between two steps. The shorter ones meet a network that has not recovered from the last one.
const (
	shortestPause = time.Second
	longestPause  = 11 * time.Second
)

// Draw deals steps for a run of a length. The same seed gives the same steps. Acts are dealt from a shuffled deck, so
// that each is met once before one is met again.
func Draw(seed uint64, length time.Duration, alphabet []Act) []Step {
	random := rand.New(rand.NewPCG(seed, seed))
	var deck []Act
	var steps []Step
	at := time.Duration(0)
	for {
		at += between(random, shortestPause, longestPause)
		if at >= length {
			return steps
		}
		if len(deck) == 0 {
			deck = shuffled(random, alphabet)
		}
		act := deck[0]
		deck = deck[1:]
		step := Step{After: at, Act: act.Name, Pick: random.IntN(1 << 20)}
		if act.Lasts[1] > 0 {
			step.Lasts = between(random, act.Lasts[0], act.Lasts[1])
		}
		steps = append(steps, step)
	}
}

func shuffled(random *rand.Rand, alphabet []Act) []Act {
	var deck []Act
	for _, act := range alphabet {
		for range act.Times {
			deck = append(deck, act)
		}
	}
	random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	return deck
}

func between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)+1))
}
