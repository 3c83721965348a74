// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package component runs the Kubernetes components, which it imports as libraries, under their command names.
//
// One binary contains all of them because they share nearly all of their code: seven binaries would take seven times the
// link time and disk space. Only this package imports the components, so that the CLI and its tests build without them.
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

// Main runs a component with the arguments of the process until it ends, and returns its exit code.
type Main func() int

// Lookup returns the component with a command name.
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

// etcd exits the program if it fails, so it has succeeded if it returns.
func etcd() int {
	etcdmain.Main(os.Args)
	return 0
}
