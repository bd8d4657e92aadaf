//go:build node

package main

import (
	"context"

	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind" // the plugins that the cluster's Corefile names
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/template"
	"k8s.io/component-base/cli"
	kubeproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/command"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/multicall"
)

// nodeProfile lists what a machine needs to run real pods, and the commands that make a cluster of it.
func nodeProfile() multicall.Table {
	return multicall.Table{
		{Name: "kubelet", About: "runs pods", Main: func() int { return cli.Run(kubelet.NewKubeletCommand(context.Background())) }},
		{Name: "kube-proxy", About: "makes Services work", Main: func() int { return cli.Run(kubeproxy.NewProxyCommand()) }},
		{Name: "coredns", About: "makes names work", Main: func() int { coremain.Run(); return 0 }},
		{Name: "provisioner", About: "makes volumes", Main: command.Main(command.Provisioner)},
		{Name: "supervise", About: "is the first process of the node; up starts it", Main: command.Main(command.Supervise)},
		{Name: "up", About: "starts a cluster on this machine", Main: command.Main(command.Up)},
		{Name: "down", About: "ends it and removes all it made", Main: command.Main(command.Down)},
		{Name: "status", About: "tells whether it runs", Main: command.Main(command.Status)},
		{Name: "kubeconfig", About: "prints the path of its kubeconfig", Main: command.Main(command.Kubeconfig)},
		{Name: "load-image", About: "gives it image tarballs", Main: command.Main(command.LoadImage)},
		{Name: "build-image", About: "makes an image tarball of files", Main: command.Main(command.BuildImage)},
	}
}
