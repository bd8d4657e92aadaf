package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/host"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
)

// Status prints whether the cluster runs and what is on it; it fails when the cluster does not answer.
func Status(flags *flag.FlagSet) Run {
	at := place(flags)
	return func(ctx context.Context) error {
		l, err := at()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return status(ctx, l)
	}
}

func status(ctx context.Context, l layout.Layout) error {
	record, err := host.ReadRecord(l)
	if err != nil {
		return err
	}
	if !record.Running() {
		return fmt.Errorf("no cluster runs in %s: run cluster up", l.Dir)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "version\t%s\nserver\t%s\nkubeconfig\t%s\naudit log\t%s\nprocess\t%d\n",
		record.Version, l.Server(), l.Kubeconfig(), l.AuditLog(), record.PID)
	clients, err := client(l)
	if err != nil {
		return err
	}
	health := "ready"
	err = errors.Join(apiReady(ctx, clients), nodeReady(ctx, clients))
	if err != nil {
		health = "not ready"
	}
	_, _ = fmt.Fprintf(table, "health\t%s\n", health)
	if pods, listErr := clients.CoreV1().Pods("").List(ctx, metav1.ListOptions{}); listErr == nil {
		_, _ = fmt.Fprintf(table, "pods\t%d\n", len(pods.Items))
	}
	if flushErr := table.Flush(); flushErr != nil {
		return fmt.Errorf("printing the status: %w", flushErr)
	}
	return err
}

// Kubeconfig prints the path of the administrator's kubeconfig.
func Kubeconfig(flags *flag.FlagSet) Run {
	at := place(flags)
	return func(context.Context) error {
		l, err := at()
		if err != nil {
			return err
		}
		if _, err := os.Stat(l.Kubeconfig()); err != nil {
			return fmt.Errorf("there is no cluster in %s: run cluster up", l.Dir)
		}
		fmt.Println(l.Kubeconfig())
		return nil
	}
}
