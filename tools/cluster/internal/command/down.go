package command

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/host"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

// Down ends the cluster and removes everything it made, its volumes too.
func Down(flags *flag.FlagSet) Run {
	at := place(flags)
	return func(ctx context.Context) error {
		l, err := at()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return down(ctx, l)
	}
}

func down(ctx context.Context, l layout.Layout) error {
	if _, err := os.Stat(l.Dir); os.IsNotExist(err) {
		fmt.Fprintln(os.Stderr, "there is no cluster in "+l.Dir)
		return nil
	}
	if err := host.RequireRoot(); err != nil {
		return err
	}
	if err := lock(l); err != nil {
		return err
	}
	record, err := host.ReadRecord(l)
	if err != nil {
		return err
	}
	if record == nil {
		return fmt.Errorf("%s holds no cluster, so nothing was removed", l.Dir)
	}
	if record.Network != l.Network.String() {
		if l, err = layout.New(l.Dir, record.Network); err != nil {
			return err
		}
	}
	if err := host.Stop(ctx, l, record); err != nil {
		return err
	}
	if err := os.RemoveAll(l.Dir); err != nil {
		return fmt.Errorf("removing the state folder: %w", err)
	}
	if err := os.Remove(l.Dir + ".lock"); err != nil {
		return fmt.Errorf("removing the lock: %w", err)
	}
	fmt.Fprintln(os.Stderr, "cluster is down, nothing of it is left")
	return nil
}
