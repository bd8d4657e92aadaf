package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Growth is about a number of settled nodes.
type Growth struct {
	Nodes       int     `json:"nodes"`
	LoadAverage float64 `json:"loadAverage"`
	// Memory is the operator's at rest, in MiB.
	Memory float64 `json:"memory"`
	// RestCPU is the operator's CPU time per minute at rest, in seconds.
	RestCPU float64 `json:"restCPU"`
	// ColdStart is from the operator's start until every node was looked at, and ColdMemory what it
	// takes then.
	ColdStart  float64 `json:"coldStart"`
	ColdMemory float64 `json:"coldMemory"`
	// Change is how long the image change of a single node takes.
	Change Times `json:"change"`
}

const (
	// growthAim is within how many seconds a single node's change is done, however many others there are.
	growthAim = 0.5
	// changes is how many nodes are changed, one at a time.
	changes = 9
	// slice is how many nodes are created at once.
	slice = 500
)

// measureGrowth lets a cluster grow and looks at it at every number of nodes.
func measureGrowth(ctx context.Context, s *settings, binary string, out io.Writer) ([]*Growth, error) {
	most := s.growth[len(s.growth)-1]
	b, err := newBench(ctx, s, binary, most, out)
	if err != nil {
		return nil, err
	}
	defer b.close()
	var found []*Growth
	made := 0
	for _, nodes := range s.growth {
		g := &Growth{Nodes: nodes}
		grow := func(ctx context.Context) error {
			for ; made < nodes; made += min(slice, nodes-made) {
				if err := b.createAndSettle(ctx, b.names[made:made+min(slice, nodes-made)]); err != nil {
					return err
				}
			}
			return nil
		}
		if err := b.steps(ctx,
			step{fmt.Sprintf("growth to %d", nodes), grow},
			step{"rest", func(ctx context.Context) error { return b.lookAtRest(ctx, g) }},
			step{"cold start", func(ctx context.Context) error { return b.startCold(ctx, g) }},
			step{"single changes", func(ctx context.Context) error { return b.changeFew(ctx, g) }},
		); err != nil {
			return nil, err
		}
		found = append(found, g)
	}
	return found, b.steps(ctx, step{"end", b.end})
}

func (b *bench) lookAtRest(ctx context.Context, g *Growth) error {
	g.LoadAverage = loadAverage()
	v, err := b.open(ctx)
	if err != nil {
		return err
	}
	if err := pause(ctx, b.s.rest); err != nil {
		return err
	}
	cost, err := b.cost(v)
	if err != nil {
		return err
	}
	g.RestCPU = cost.Operator * 60 / time.Since(v.from).Seconds()
	now, _, err := memory(b.operator.pid())
	g.Memory = mib(now)
	return err
}

// startCold starts another operator and waits until it has looked at every node.
func (b *bench) startCold(ctx context.Context, g *Growth) error {
	if err := b.stopOperator(ctx); err != nil {
		return err
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	if err := b.operator.awaitMetric(ctx, metricReconciles, float64(g.Nodes), labelNodes); err != nil {
		return err
	}
	g.ColdStart = time.Since(b.operator.started).Seconds()
	if err := pause(ctx, settleTime); err != nil {
		return err
	}
	now, _, err := memory(b.operator.pid())
	g.ColdMemory = mib(now)
	return err
}

// changeFew changes single nodes, spread over all, to an image that none of them has had.
func (b *bench) changeFew(ctx context.Context, g *Growth) error {
	var took []time.Duration
	image := fmt.Sprintf("seid:at-%d", g.Nodes)
	for i := range changes {
		name := b.names[i*g.Nodes/changes]
		done := b.nodes.expect([]string{name}, settledOn(image))
		changed := time.Now()
		if err := b.setImage(ctx, name, image); err != nil {
			return err
		}
		met, err := b.await(ctx, done)
		if err != nil {
			return err
		}
		took = append(took, met[name].Sub(changed))
	}
	g.Change = timesOf(took)
	return nil
}
