package command

import (
	"context"
	"flag"
	"fmt"
	"os"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/provisioner"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/supervise"
)

// Supervise is the node's first process; up starts it.
func Supervise(flags *flag.FlagSet) Run {
	at := place(flags)
	return func(ctx context.Context) error {
		l, err := at()
		if err != nil {
			return err
		}
		return supervise.Run(ctx, l, os.Stdin)
	}
}

// Provisioner is the component that makes volumes; the node's first process starts it.
func Provisioner(flags *flag.FlagSet) Run {
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig to use")
	volumes := flags.String("volumes", "", "folder that holds a folder per volume")
	node := flags.String("node", "", "name of the node")
	return func(ctx context.Context) error {
		config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
		if err != nil {
			return fmt.Errorf("reading the kubeconfig: %w", err)
		}
		clients, err := kubernetes.NewForConfig(config)
		if err != nil {
			return fmt.Errorf("making a client: %w", err)
		}
		return (&provisioner.Provisioner{Client: clients, Folder: *volumes, Node: *node}).Run(ctx)
	}
}
