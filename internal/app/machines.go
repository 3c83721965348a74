// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/controller/virtualmachine"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker"
	"github.com/windlass-operator/windlass/internal/machine/hosts"
	"github.com/windlass-operator/windlass/internal/machine/libvirt"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// addMachines adds the controller of VirtualMachines with the configured hosts.
func addMachines(ctx context.Context, mgr manager.Manager, t tools) error {
	configured, err := machineHosts(&t.conf.Machines, os.Getenv, os.ReadFile)
	if err != nil {
		return err
	}
	// The UID of kube-system tells the machines of this cluster from those of another on a shared host: the namespace lives as
	// long as the cluster.
	var system corev1.Namespace
	if err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, &system); err != nil {
		return fmt.Errorf("cannot read namespace %q, which identifies the cluster: %w", metav1.NamespaceSystem, err)
	}
	conf := t.conf.Machines
	return virtualmachine.New(virtualmachine.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: t.recorder, Now: t.now, Log: mgr.GetLogger().WithName("machines"),
		Installation: string(system.UID), Namespace: t.conf.LeaseLockNamespace,
		Hosts: configured, Open: openDriver, DefaultDriver: conf.Driver,
		Usage: virtualmachine.UsageMode(conf.UsageInStatus), SamplePeriod: conf.SamplePeriod,
		DeleteOrphans: conf.OrphanPolicy == config.DeleteOrphans, OrphanGrace: conf.OrphanGrace,
	}).SetupWithManager(ctx, mgr, t.workers)
}

// machineHosts returns the hosts that the file lists, or the default one of the driver.
func machineHosts(
	conf *config.Machines, getenv func(string) string, readFile func(string) ([]byte, error),
) ([]machine.Host, error) {
	if conf.Hosts == "" {
		return hosts.Default(conf.Driver, getenv)
	}
	raw, err := readFile(conf.Hosts)
	if err != nil {
		return nil, fmt.Errorf("cannot read the file of --vm-hosts: %w", err)
	}
	return hosts.Parse(raw)
}

// openDriver opens the driver of a host.
func openDriver(ctx context.Context, host machine.Host) (machine.Driver, error) {
	switch host.Driver {
	case machine.DriverDocker:
		return docker.Open(ctx, host)
	case machine.DriverLibvirt:
		return libvirt.Open(ctx, host)
	case machine.DriverSimulated:
		return simulated.Open(ctx, host)
	default:
		return nil, fmt.Errorf("driver %q does not exist", host.Driver)
	}
}
