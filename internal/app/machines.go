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

// defaultHost is the name of the only host where no file lists them.
const defaultHost = "default"

// addMachines makes the controller of VirtualMachines with the hosts that are configured.
func addMachines(ctx context.Context, mgr manager.Manager, t tools) error {
	hosts, err := machineHosts(&t.conf.Machines, os.Getenv, os.ReadFile)
	if err != nil {
		return err
	}
	// What tells this cluster's machines from another one's on a host that they share: the namespace lives as long as the cluster.
	var system corev1.Namespace
	if err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, &system); err != nil {
		return fmt.Errorf("cannot tell which cluster this is: %w", err)
	}
	conf := t.conf.Machines
	return virtualmachine.New(virtualmachine.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: t.recorder, Now: t.now, Log: mgr.GetLogger().WithName("machines"),
		Installation: string(system.UID), Namespace: t.conf.LeaseLockNamespace,
		Hosts: hosts, Open: openDriver, DefaultDriver: conf.Driver,
		Usage: virtualmachine.UsageMode(conf.UsageInStatus), SamplePeriod: conf.SamplePeriod,
		DeleteOrphans: conf.OrphanPolicy == config.DeleteOrphans, OrphanGrace: conf.OrphanGrace,
	}).SetupWithManager(ctx, mgr, t.workers)
}

// machineHosts returns the hosts that the file lists, or the one of the driver.
func machineHosts(
	conf *config.Machines, getenv func(string) string, readFile func(string) ([]byte, error),
) ([]machine.Host, error) {
	if conf.Hosts != "" {
		raw, err := readFile(conf.Hosts)
		if err != nil {
			return nil, fmt.Errorf("cannot read the file of --vm-hosts: %w", err)
		}
		return hosts.Parse(raw)
	}
	switch conf.Driver {
	case machine.DriverLibvirt:
		return []machine.Host{{Name: defaultHost, Driver: machine.DriverLibvirt, Endpoint: "qemu:///system"}}, nil
	case machine.DriverSimulated:
		return []machine.Host{{Name: defaultHost, Driver: machine.DriverSimulated, Endpoint: "simulated://"}}, nil
	default:
		return hosts.FromEnvironment(getenv)
	}
}

// openDriver opens the driver of a host by its name.
func openDriver(ctx context.Context, host machine.Host) (machine.Driver, error) {
	switch host.Driver {
	case machine.DriverDocker:
		return docker.Open(ctx, host)
	case machine.DriverLibvirt:
		return libvirt.Open(ctx, host)
	case machine.DriverSimulated:
		return simulated.Open(ctx, host)
	default:
		return nil, fmt.Errorf("there is no driver %q in this program", host.Driver)
	}
}
