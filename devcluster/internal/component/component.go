// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package component turns the libraries behind each Kubernetes component back into the command of that name.
//
// One binary holds them all because they share nearly all of their code: seven binaries would be seven times the link
// time and the disk space. This is the only package that imports the components, so that the CLI and its tests build
// without them.
package component

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	// The blank imports register the JSON log format and the client and version metrics, as the upstream mains do;
	// without them the flags and series would be missing.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectlcmd "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kcm "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// Main runs a component with the process arguments until it ends and returns its exit code.
type Main func() int

// Lookup returns the component that is served under a command name.
func Lookup(name string) (Main, bool) {
	switch name {
	case "etcd":
		return etcd, true
	case "kube-apiserver":
		return func() int { return cli.Run(apiserver.NewAPIServerCommand()) }, true
	case "kube-controller-manager":
		return func() int { return cli.Run(kcm.NewControllerManagerCommand()) }, true
	case "kube-scheduler":
		return func() int { return cli.Run(scheduler.NewSchedulerCommand()) }, true
	case "kubectl":
		return func() int { return cli.Run(kubectlcmd.NewDefaultKubectlCommand()) }, true
	case "kwok-controller":
		return kwokController, true
	case "kwokctl":
		return kwokctl, true
	default:
		return lookupNode(name)
	}
}

// etcd ends the whole program when it fails, so whenever it returns all went well.
func etcd() int {
	etcdmain.Main(os.Args)
	return 0
}
