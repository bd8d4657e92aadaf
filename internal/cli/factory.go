package cli

import (
	"fmt"

	"github.com/spf13/pflag"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Factory is what every command is made with: where it writes, what time it is, and how it gets to a
// cluster.
type Factory struct {
	IO     genericiooptions.IOStreams
	Clock  clock.WithTicker
	Getenv func(string) string
	// Config are the connection flags that kubectl has: --kubeconfig, --context, --namespace, ...
	Config *genericclioptions.ConfigFlags

	// connect is replaced in tests.
	connect func() (*Cluster, error)
}

// Cluster is a connection to a cluster, with the rights of the user's kubeconfig.
type Cluster struct {
	// Client knows the types that the operator works with.
	Client client.WithWatch
	// Kubernetes is for what Client cannot do: logs, discovery, access reviews.
	Kubernetes kubernetes.Interface
	// Pods asks pods over HTTP.
	Pods PodProxy
	// Logs reads logs of containers.
	Logs PodLogs
	// Namespace is that of --namespace or of the kubeconfig's context.
	Namespace string
	// Rest is nil in tests with a fake client.
	Rest *rest.Config
}

// NewFactory makes a factory that connects as kubectl does.
func NewFactory(streams genericiooptions.IOStreams, clk clock.WithTicker, getenv func(string) string) *Factory {
	f := &Factory{IO: streams, Clock: clk, Getenv: getenv, Config: genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag()}
	f.connect = f.dial
	return f
}

func (f *Factory) addFlags(flags *pflag.FlagSet) { f.Config.AddFlags(flags) }

// Cluster connects to the cluster of the flags.
func (f *Factory) Cluster() (*Cluster, error) { return f.connect() }

func (f *Factory) dial() (*Cluster, error) {
	config, err := f.Config.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	// One command asks every node of a fleet at once.
	config.QPS, config.Burst = 50, 100
	namespace, _, err := f.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("reading the namespace of the kubeconfig: %w", err)
	}
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &Cluster{
		Client: c, Kubernetes: clientset, Rest: config, Namespace: namespace,
		Pods: &apiServerProxy{clientset: clientset}, Logs: &apiServerLogs{clientset: clientset},
	}, nil
}

// Terminal reports whether what is printed is read by a person at a terminal.
func (f *Factory) Terminal() bool {
	file, ok := f.IO.Out.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// TerminalWidth is how many characters a line of the terminal has; 0 when there is no terminal.
func (f *Factory) TerminalWidth() int {
	file, ok := f.IO.Out.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Color reports whether output may be coloured: at a terminal, unless NO_COLOR is set to anything
// (https://no-color.org) or the terminal knows no colours.
func (f *Factory) Color() bool {
	return f.Terminal() && f.Getenv("NO_COLOR") == "" && f.Getenv("TERM") != "dumb"
}
