// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
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

// kwokController is called kwok by its own project, but kwokctl expects it under this name.
//
// Each process of kwok would be another holder of the Leases of its nodes: one that starts again would wait for up to 40 seconds until those of
// the process before expire, and run no pod meanwhile. The holder is known by the first random UUID of the process, so that one is always
// the same. A cluster has one such process.
func kwokController() int {
	uuid.SetRand(io.MultiReader(strings.NewReader("windlass-cluster"), rand.Reader))
	return runKwok(kwokcmd.NewCommand)
}

// kwokctl downloads components whose paths are not set, so this sets the paths: the components are the symlinks next to its
// own. It keeps variables that the caller has set.
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

// ownDirectory returns the directory of the symlink that this process was started by; the other components are in it too.
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

// runKwok does what kwok's own main functions do. It replaces the global flag set first: the Kubernetes components of this
// binary have registered flags in it, at which kwok's early parse would stop.
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
