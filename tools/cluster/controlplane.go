package main

import (
	"os"
	_ "time/tzdata" // CronJobs name time zones; the machine may have no zone database

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // credential plugins for kubectl
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // the version metric
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/multicall"
)

// controlPlane lists the components that store, serve and reconcile objects, and the client.
func controlPlane() multicall.Table {
	return multicall.Table{
		{Name: "etcd", About: "the store", Main: runEtcd},
		{Name: "kube-apiserver", About: "the API", Main: func() int { return cli.Run(apiserver.NewAPIServerCommand()) }},
		{Name: "kube-controller-manager", About: "the built-in controllers", Main: func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) }},
		{Name: "kube-scheduler", About: "assigns pods to nodes", Main: func() int { return cli.Run(newScheduler()) }},
		{Name: "kubectl", About: "the client", Main: runKubectl},
	}
}

// newScheduler hides the variadic options, which plugins would use.
func newScheduler() *cobra.Command { return scheduler.NewSchedulerCommand() }

// runEtcd exits by itself when it cannot start; it returns after a clean stop.
func runEtcd() int {
	etcdmain.Main(os.Args)
	return 0
}

// runKubectl prints errors the way people know them from kubectl, and exits itself on one.
func runKubectl() int {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
	return 0
}
