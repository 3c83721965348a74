// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/controller/cluster"
	"github.com/windlass-operator/windlass/internal/controller/kubeconfig"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/confine"
	"github.com/windlass-operator/windlass/internal/provision/exec"
	"github.com/windlass-operator/windlass/internal/provision/job"
)

// runner runs tools, and follows them.
type runner interface {
	provision.Provisioner

	// Watch tells of changes until the context ends.
	Watch(ctx context.Context) error
}

// addClusters adds the controller of Clusters, with the tools that are configured.
func addClusters(ctx context.Context, mgr manager.Manager, t tools) error {
	direct, err := newDirect(mgr)
	if err != nil {
		return err
	}
	runs, err := newRunner(ctx, mgr, direct, t)
	if err != nil {
		return err
	}
	if err := mgr.Add(manager.RunnableFunc(runs.Watch)); err != nil {
		return fmt.Errorf("cannot watch the runs of tools: %w", err)
	}
	t.reach.tools, t.reach.kept, t.reach.namespace = runs, direct, t.conf.LeaseLockNamespace
	conf := t.conf.Clusters
	options := cluster.Options{
		Provisioner: &fencedProvisioner{Provisioner: runs, fence: t.leading}, Prober: cluster.NewProber(),
		Namespace:  t.conf.LeaseLockNamespace,
		ConfigRoot: confine.Root(conf.ConfigRoot), ConfigNamespaces: conf.ConfigNamespaces, Subject: t.subject,
	}
	for _, name := range conf.AllowedProvisioners {
		options.Provisioners = append(options.Provisioners, clusterprovisionerv1alpha1.Provisioner(name))
	}
	return errors.Join(
		cluster.New(mgr.GetClient(), direct, t.recorder, t.now, options).SetupWithManager(mgr, t.workers),
		mgr.Add(kube.Publish("the runs of tools", func(ctx context.Context) prometheus.Collector {
			return cluster.Runs(ctx, mgr.GetClient(), conf.MaxOperations, t.log)
		})),
	)
}

// addKubeconfigs adds the controller of Kubeconfigs.
func addKubeconfigs(mgr manager.Manager, t tools) error {
	direct, err := newDirect(mgr)
	if err != nil {
		return err
	}
	options := kubeconfig.Options{
		Namespace: t.conf.LeaseLockNamespace, ConfigRoot: confine.Root(t.conf.Clusters.ConfigRoot), Fence: t.leading.Transport, Subject: t.subject,
	}
	return kubeconfig.New(mgr.GetClient(), direct, t.recorder, t.now, options).SetupWithManager(mgr, t.workers)
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

// newRunner returns what runs tools, as the configuration wants it.
func newRunner(ctx context.Context, mgr manager.Manager, direct client.Client, t tools) (runner, error) {
	if t.conf.Clusters.ToolRunner == config.ToolRunnerJob {
		return newJobRunner(ctx, mgr, direct, t)
	}
	if err := checkIsolation(&t.conf.Clusters, t.log); err != nil {
		return nil, err
	}
	return newProcessRunner(t.conf)
}

// newProcessRunner returns what runs tools as processes: each under this very program as its supervisor.
func newProcessRunner(all *config.Config) (*exec.Runner, error) {
	conf := &all.Clusters
	supervisor, err := supervisor()
	if err != nil {
		return nil, err
	}
	return exec.New(exec.Options{
		Root: conf.StateDir, Paths: conf.ToolPaths, ConfigRoot: confine.Root(conf.ConfigRoot), Limit: conf.MaxOperations,
		Supervisor: supervisor, Environment: os.Environ, Now: time.Now,
		Isolation: exec.Isolation(conf.ToolIsolation), Secret: secretFiles(all.Kubeconfig, os.Getenv),
	})
}

// newJobRunner returns what runs tools as Jobs: each under the program of the image that this process runs from.
func newJobRunner(ctx context.Context, mgr manager.Manager, direct client.Client, t tools) (*job.Runner, error) {
	namespace := t.conf.LeaseLockNamespace
	image, pull, err := ownImage(ctx, direct, namespace, t.conf.HolderIdentity)
	if err != nil {
		return nil, fmt.Errorf("--tool-runner=job: %w", err)
	}
	attach, err := job.NewAttach(mgr.GetConfig(), namespace)
	if err != nil {
		return nil, err
	}
	return job.New(job.Options{
		Client: direct, Namespace: namespace, Supervisor: image, PullSecrets: pull, Images: t.conf.Clusters.ToolImages,
		Limit: t.conf.Clusters.MaxOperations, Attach: attach, Now: t.now,
	}), nil
}

// managerContainer is the name of this program's container in its Pod.
const managerContainer = "manager"

// ownImage returns the image of the Pod that this process runs in, and the Secrets that it is pulled with. The tool's Pod takes its supervisor
// from there, so that both are of one version.
func ownImage(ctx context.Context, reader client.Reader, namespace, name string) (image string, pull []corev1.LocalObjectReference, err error) {
	var pod corev1.Pod
	if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &pod); err != nil {
		return "", nil, fmt.Errorf("cannot read Pod %s/%s, from whose image tools' Pods take the supervisor: the manager has to run in a Pod, and "+
			"--holder-identity has to be its name ($POD_NAME): %w", namespace, name, err)
	}
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == managerContainer {
			return pod.Spec.Containers[i].Image, pod.Spec.ImagePullSecrets, nil
		}
	}
	return "", nil, fmt.Errorf("cannot find container %[3]q in Pod %[1]s/%[2]s: tools' Pods take the supervisor from its image",
		namespace, name, managerContainer)
}
