package main

import (
	"context"
	"errors"
	"time"
)

// restart ends the operator twice: once to see that a fresh one finds nothing to do,
// and once to change a node while no operator runs.
func (b *bench) restart(ctx context.Context) error {
	if err := b.stopOperator(ctx); err != nil {
		return err
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	if err := b.operator.awaitMetric(ctx, metricReconciles, float64(b.run.Nodes), labelNodes); err != nil {
		return err
	}
	r := &b.run.Restart
	r.Swept = time.Since(b.operator.started).Seconds()
	if err := pause(ctx, settleTime); err != nil {
		return err
	}
	var err error
	if r.Requests, err = b.requestsIn(b.operator.started, time.Now()); err != nil {
		return err
	}
	if err := b.stopOperator(ctx); err != nil {
		return err
	}
	// A node in the middle: neither the first nor the last of any order.
	name := b.names[len(b.names)/2]
	if err := b.setImage(ctx, name, imageRestart); err != nil {
		return err
	}
	done := b.nodes.expect([]string{name}, settledOn(imageRestart))
	if err := b.start(ctx); err != nil {
		return err
	}
	if _, err := b.await(ctx, done); err != nil {
		return err
	}
	return b.findDelete()
}

func (b *bench) findDelete() error {
	requests, err := b.audit.between(b.operator.started, time.Now())
	if err != nil {
		return err
	}
	at, found := firstPodDelete(requests)
	if !found {
		return errors.New("the operator deleted no pod")
	}
	b.run.Restart.ChangeToDelete = at.Sub(b.operator.started).Seconds()
	return nil
}

// update changes the images of all nodes at once.
func (b *bench) update(ctx context.Context) error {
	v, err := b.open(ctx)
	if err != nil {
		return err
	}
	u := &b.run.Update
	profiled := b.profileDuring(ctx, "update", b.profileSpan())
	done := b.nodes.expect(b.names, settledOn(imageUpdate))
	changed, err := b.stamped(b.names, func(name string) error { return b.setImage(ctx, name, imageUpdate) })
	if err != nil {
		return err
	}
	met, err := b.await(ctx, done)
	if err != nil {
		return err
	}
	u.FirstDone, u.AllDone = span(v.from, met)
	u.Node = timesOf(since(changed, met))
	if u.Cost, err = b.cost(v); err != nil {
		return err
	}
	profiled()
	if err := pause(ctx, settleTime); err != nil {
		return err
	}
	u.Requests, err = b.requestsIn(v.from, time.Now())
	return err
}
