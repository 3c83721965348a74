// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/version"
	"sigs.k8s.io/kwok/pkg/config"
	kwokcmd "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwokctlcmd "sigs.k8s.io/kwok/pkg/kwokctl/cmd"
	// Registers the only runtime that needs neither a container engine nor a network.
	_ "sigs.k8s.io/kwok/pkg/kwokctl/runtime/binary"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

// kwokController is called kwok by its own project, but kwokctl looks for it under this name.
func kwokController() int {
	return runKwok(kwokcmd.NewCommand)
}

// kwokctl downloads what it is not told to find, so it is told: the components are the symlinks beside its own.
// Whatever the caller set stays.
func kwokctl() int {
	defaults := map[string]string{
		"KWOK_RUNTIME":      "binary",
		"KWOK_KUBE_VERSION": version.Get().GitVersion,
	}
	if dir, err := ownDirectory(); err == nil {
		for env, name := range map[string]string{
			"KWOK_ETCD_BINARY":                    "etcd",
			"KWOK_KUBE_APISERVER_BINARY":          "kube-apiserver",
			"KWOK_KUBE_CONTROLLER_MANAGER_BINARY": "kube-controller-manager",
			"KWOK_KUBE_SCHEDULER_BINARY":          "kube-scheduler",
			"KWOK_KUBECTL_BINARY":                 "kubectl",
			"KWOK_CONTROLLER_BINARY":              "kwok-controller",
		} {
			defaults[env] = filepath.Join(dir, name)
		}
	}
	for name, value := range defaults {
		if _, set := os.LookupEnv(name); !set {
			_ = os.Setenv(name, value)
		}
	}
	return runKwok(kwokctlcmd.NewCommand)
}

// ownDirectory is where the symlink lies that this process was called by, so that its siblings are found.
func ownDirectory() (string, error) {
	if filepath.Base(os.Args[0]) != os.Args[0] {
		return filepath.Abs(filepath.Dir(os.Args[0]))
	}
	executable, err := os.Executable()
	if err != nil {
		return "", err
	}
	executable, err = filepath.EvalSymlinks(executable)
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(executable), "k8s"), nil
}

// runKwok does what kwok's own main functions do. The global flag set has to be replaced first: the Kubernetes
// components of this binary have filled it, and kwok's early parse would stop at their flags.
func runKwok(newCommand func(context.Context) *cobra.Command) int {
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	pflag.CommandLine = flags

	ctx := signals.SetupSignalContext()
	ctx, _ = log.InitFlags(ctx, flags)
	ctx, err := config.InitFlags(ctx, flags)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot read the kwok configuration:", err)
		return 1
	}
	command := newCommand(ctx)
	command.PersistentFlags().AddFlagSet(flags)
	if err := command.ExecuteContext(ctx); err != nil {
		log.FromContext(ctx).Error("Execute exit", "err", err)
		return 1
	}
	return 0
}
