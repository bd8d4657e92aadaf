package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sei-operator/sei-operator/internal/manager"
)

// namespaceFile is where a pod reads its namespace when the environment does
// not name it.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// settings are the parsed flags.
type settings struct {
	manager     manager.Config
	configFile  string
	kubeconfig  string
	qps         float32
	burst       int
	logLevel    string
	logFormat   string
	showVersion bool
}

func parse(args []string, getenv func(string) string, stderr io.Writer) (*settings, error) {
	s := &settings{}
	m := &s.manager
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.SortFlags = false

	flags.StringVar(&s.configFile, "config", "", "platform configuration file; every setting has its default if not set")
	flags.StringVar(&m.Namespace, "namespace", ownNamespace(getenv),
		"the operator's own namespace, for leader election and key reservations (default $POD_NAMESPACE)")
	flags.StringSliceVar(&m.WatchNamespaces, "watch-namespace", nil, "namespace to watch, may be repeated; all namespaces if not set")
	flags.IntVar(&m.Concurrency, "concurrency", manager.DefaultConcurrency, "how many objects of a kind are reconciled at once")
	flags.StringVar(&m.MetricsAddress, "metrics-bind-address", manager.DefaultMetricsAddress, "address of the metrics endpoint; 0 for none")
	flags.BoolVar(&m.InsecureMetrics, "insecure-metrics", false, "serve metrics over plain HTTP, without authentication")
	flags.StringVar(&m.MetricsCertDir, "metrics-cert-dir", "",
		"directory with tls.crt and tls.key of the metrics endpoint; a self-signed certificate is generated if not set")
	flags.StringVar(&m.ProbeAddress, "health-probe-bind-address", manager.DefaultProbeAddress, "address of /healthz and /readyz; 0 for none")
	flags.BoolVar(&m.LeaderElection, "leader-elect", true, "elect a leader among several replicas; only the leader reconciles")
	flags.DurationVar(&m.ShutdownTimeout, "shutdown-timeout", manager.DefaultShutdownTimeout, "how long to wait for running reconciles after a termination signal")
	flags.StringVar(&m.SidecarTokenFile, "sidecar-token-file", manager.DefaultTokenFile,
		"projected service-account token of audience sei-sidecar: names the service account whose tokens sidecars are called with; "+
			"empty to send none, which sidecars reject")
	flags.BoolVar(&m.AllowSharedAudience, "allow-shared-sidecar-audience", true,
		"call sidecars of older pods, which all accept the same token; if false, their nodes wait until the pods are replaced")
	flags.BoolVar(&m.AllowPlaintext, "allow-plaintext-sidecars", true,
		"call sidecars of older pods, which speak plain HTTP; if false, their nodes wait until the pods are replaced")
	flags.StringSliceVar(&m.SidecarSubjects, "sidecar-subject", nil,
		"additional token subject that sidecars accept, for example system:serviceaccount:ops:oncall")
	flags.BoolVar(&m.EC2, "ec2-peers", false,
		"allow peer sources of type ec2Tags to query AWS, within peers.ec2 of the platform configuration")
	flags.Float32Var(&s.qps, "kube-api-qps", -1,
		"limit of requests per second to the API server; below 0 leaves it to the API server's own priority and fairness")
	flags.IntVar(&s.burst, "kube-api-burst", 100, "burst above --kube-api-qps")
	flags.StringVar(&s.logLevel, "log-level", "info", "error, info or debug")
	flags.StringVar(&s.logFormat, "log-format", "json", "json or text")
	flags.BoolVar(&s.showVersion, "version", false, "print the version and exit")
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "kubeconfig file; the environment variable KUBECONFIG or the pod's service account if not set")

	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("reading the flags: %w", err)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("reading the flags: %q is not a flag; arguments are not accepted", flags.Arg(0))
	}
	if s.qps == 0 || (s.qps > 0 && s.burst < 1) {
		return nil, errors.New("reading the flags: --kube-api-qps must not be 0, and with a limit --kube-api-burst must be at least 1")
	}
	return s, nil
}

func ownNamespace(getenv func(string) string) string {
	if namespace := getenv("POD_NAMESPACE"); namespace != "" {
		return namespace
	}
	content, err := os.ReadFile(namespaceFile)
	if err != nil {
		return "" // outside a cluster; Validate says what to do
	}
	return strings.TrimSpace(string(content))
}
