package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Busy is about single nodes whose images change while many others are being created.
type Busy struct {
	// Nodes are being created meanwhile.
	Nodes       int     `json:"nodes"`
	LoadAverage float64 `json:"loadAverage"`
	// Change is from the change until the node is done.
	Change Times `json:"change"`
	// AllDone is when the last of the new nodes was done.
	AllDone float64 `json:"allDone"`
}

const (
	// busyAim is within how many seconds a node's change is done, whatever else is in progress.
	busyAim = 2
	// bystanders are the nodes that are changed, one after the other.
	bystanders = 20
)

// measureBusy settles a few nodes, creates many others at once, and changes the few one at a time until
// the others are done.
func measureBusy(ctx context.Context, s *settings, binary string, out io.Writer) (*Busy, error) {
	b, err := newBench(ctx, s, binary, s.busy, out)
	if err != nil {
		return nil, err
	}
	defer b.close()
	result := &Busy{Nodes: s.busy, LoadAverage: b.run.LoadAverage}
	change := func(ctx context.Context) error { return b.changeInLoad(ctx, result) }
	err = b.steps(ctx, step{"bystanders", b.settleBystanders}, step{"changes in a load", change}, step{"end", b.end})
	return result, err
}

func bystander(i int) string { return fmt.Sprintf("bystander-%02d", i) }

func (b *bench) settleBystanders(ctx context.Context) error {
	names := make([]string, 0, bystanders)
	for i := range bystanders {
		names = append(names, bystander(i))
	}
	return b.createAndSettle(ctx, names)
}

// createAndSettle makes nodes and waits until they are done.
func (b *bench) createAndSettle(ctx context.Context, names []string) error {
	done := b.nodes.expect(names, settledOn(imageFirst))
	if err := each(names, func(name string) error { return b.create(ctx, name) }); err != nil {
		return err
	}
	if _, err := b.await(ctx, done); err != nil {
		return err
	}
	return pause(ctx, settleTime)
}

// changeInLoad changes one bystander after the other, from when the load has begun until it has ended. A
// change that ends after the load counts as well.
func (b *bench) changeInLoad(ctx context.Context, result *Busy) error {
	began, done := time.Now(), b.nodes.expect(b.names, settledOn(imageFirst))
	created := make(chan error, 1)
	go func() { created <- each(b.names, func(name string) error { return b.create(ctx, name) }) }()
	var took []time.Duration
	for i := range bystanders {
		if len(took) > 0 && b.nodes.reached(done) == len(b.names) {
			break
		}
		name := bystander(i)
		changed, changes := time.Now(), b.nodes.expect([]string{name}, settledOn(imageUpdate))
		if err := b.setImage(ctx, name, imageUpdate); err != nil {
			return err
		}
		met, err := b.await(ctx, changes)
		if err != nil {
			return err
		}
		took = append(took, met[name].Sub(changed))
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	if err := <-created; err != nil {
		return err
	}
	met, err := b.await(ctx, done)
	if err != nil {
		return err
	}
	_, result.AllDone = span(began, met)
	result.Change = timesOf(took)
	return nil
}
