// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/controller/cluster"
	"github.com/windlass-operator/windlass/internal/controller/kubeconfig"
	"github.com/windlass-operator/windlass/internal/provision/confine"
	"github.com/windlass-operator/windlass/internal/provision/exec"
)

// superviseCommand is how this program is called as the supervisor of a provisioning tool's run.
const superviseCommand = "provision-run"

// addClusters adds the controller of Clusters, with the tools that are configured.
func addClusters(mgr manager.Manager, t tools) error {
	if err := checkIsolation(&t.conf.Clusters, t.log); err != nil {
		return err
	}
	runner, err := newRunner(t.conf)
	if err != nil {
		return err
	}
	direct, err := newDirect(mgr)
	if err != nil {
		return err
	}
	if err := mgr.Add(manager.RunnableFunc(runner.Watch)); err != nil {
		return fmt.Errorf("cannot watch the runs of tools: %w", err)
	}
	conf := t.conf.Clusters
	options := cluster.Options{
		Provisioner: &fencedProvisioner{Provisioner: runner, fence: t.leading}, Prober: cluster.NewProber(),
		Namespace:  t.conf.LeaseLockNamespace,
		ConfigRoot: confine.Root(conf.ConfigRoot), ConfigNamespaces: conf.ConfigNamespaces,
	}
	for _, name := range conf.AllowedProvisioners {
		options.Provisioners = append(options.Provisioners, clusterprovisionerv1alpha1.Provisioner(name))
	}
	return cluster.New(mgr.GetClient(), direct, t.recorder, t.now, options).SetupWithManager(mgr, t.workers)
}

// addKubeconfigs adds the controller of Kubeconfigs.
func addKubeconfigs(mgr manager.Manager, t tools) error {
	direct, err := newDirect(mgr)
	if err != nil {
		return err
	}
	root := confine.Root(t.conf.Clusters.ConfigRoot)
	return kubeconfig.New(mgr.GetClient(), direct, t.recorder, t.now, t.conf.LeaseLockNamespace, root).SetupWithManager(mgr, t.workers)
}

// checkIsolation finds out whether this machine can isolate tools as the configuration wants it. It tells once if it cannot.
func checkIsolation(conf *config.Clusters, log logr.Logger) error {
	wanted, problem := exec.Isolation(conf.ToolIsolation), exec.CanIsolate()
	switch {
	case problem == nil || wanted == exec.IsolationNone:
	case wanted == exec.IsolationRequired:
		return fmt.Errorf("--tool-isolation is required, and this machine cannot isolate tools: %w", problem)
	default:
		log.Info("Provisioning tools are not isolated: they can read what the manager can read", "cause", problem.Error())
	}
	return nil
}

// secretFiles returns what is the manager's and not a tool's. Admin is the kubeconfig that was given, if one was.
func secretFiles(admin string, getenv func(string) string) []string {
	paths := []string{"/var/run/secrets", filepath.Join(getenv("HOME"), ".kube"), filepath.Join(getenv("HOME"), ".ssh")}
	if admin != "" {
		paths = append(paths, admin)
	}
	return append(paths, filepath.SplitList(getenv("KUBECONFIG"))...)
}

// newRunner returns what runs tools: each under this very program as its supervisor.
func newRunner(all *config.Config) (*exec.Runner, error) {
	conf := &all.Clusters
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program, which supervises tools: %w", err)
	}
	return exec.New(exec.Options{
		Root: conf.StateDir, Paths: conf.ToolPaths, ConfigRoot: confine.Root(conf.ConfigRoot), Limit: conf.MaxOperations,
		Supervisor: []string{program, superviseCommand}, Environment: os.Environ,
		Isolation: exec.Isolation(conf.ToolIsolation), Secret: secretFiles(all.Kubeconfig, os.Getenv),
	})
}

// newSuperviseCommand returns the command that a Runner starts. It is not for people.
func newSuperviseCommand() *cobra.Command {
	return &cobra.Command{
		Use:    superviseCommand + " DIR",
		Short:  "Supervise the run of a provisioning tool",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := exec.Supervise(cmd.Context(), args[0], time.Now); err != nil {
				return failure{err}
			}
			return nil
		},
	}
}
