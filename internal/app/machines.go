// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/controller/machinegc"
	"github.com/windlass-operator/windlass/internal/controller/machineusage"
	"github.com/windlass-operator/windlass/internal/controller/virtualmachine"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/hosts"
	"github.com/windlass-operator/windlass/internal/machine/libvirt"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// operationsTimeout is how long operations may take to end when the manager stops.
const operationsTimeout = 15 * time.Second

// addMachines adds the controller of VirtualMachines, and the sampler and the collector of their machines.
func addMachines(ctx context.Context, mgr manager.Manager, t tools) error {
	// The UID of kube-system distinguishes the machines of this cluster from those of another one on a shared host: the
	// namespace exists as long as the cluster.
	var system corev1.Namespace
	if err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, &system); err != nil {
		return fmt.Errorf("cannot read namespace %q, which identifies the cluster: %w", metav1.NamespaceSystem, err)
	}
	conf, log := t.conf.Machines, t.log
	installation := cmp.Or(conf.Installation, string(system.UID))
	configured, problem := machineHosts(&conf, os.Getenv, os.ReadFile)
	if problem != nil {
		// The other controllers do not need hosts. The conditions of the machines report the problem, too.
		log.Error(problem, "Cannot use the configuration of the hosts: VirtualMachines wait until the manager restarts with a correct one")
	}

	wakeup := &kube.Wakeup{}
	operations := operation.NewRunner(t.now, wakeup.Wake)
	notices := &virtualmachine.Notices{Client: mgr.GetClient(), Operations: operations, Wake: wakeup.Wake, Log: log}
	calls := machineusage.NewCalls()
	machines := fleet.New(configured, fleet.Options{
		Installation: installation, Open: fencedOpener(openDriver, t.leading), Problem: problem,
		Notify: notices.Notify, Measure: calls.Measure, Log: log,
	})
	t.reach.machines, t.reach.installation = machines, installation
	retained := &kube.RetainedList{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Namespace: t.conf.LeaseLockNamespace, Configured: namesOf(configured),
	}

	return errors.Join(
		mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
			runHosts(ctx, machines, operations)
			return nil
		})),
		mgr.Add(machineusage.New(machineusage.Options{
			Client: mgr.GetClient(), Fleet: machines, Calls: calls, Now: t.now, Log: log, Installation: installation,
			Mode: machineusage.Mode(conf.UsageInStatus), Period: conf.SamplePeriod,
		})),
		mgr.Add(machinegc.New(machinegc.Options{
			Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: t.recorder, Now: t.now, Log: log, Fleet: machines,
			Retained: retained, Wake: wakeup.Wake, Installation: installation,
			Remove: conf.OrphanPolicy == config.DeleteOrphans, Grace: conf.OrphanGrace,
		})),
		virtualmachine.New(virtualmachine.Options{
			Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: t.recorder, Now: t.now, Installation: installation,
			Fleet: machines, Operations: operations, Retained: retained, DefaultDriver: conf.Driver, Subject: t.subject,
		}).SetupWithManager(ctx, mgr, t.workers, wakeup),
	)
}

// namesOf returns the names of the hosts.
func namesOf(list []machine.Host) []string {
	names := make([]string, 0, len(list))
	for _, host := range list {
		names = append(names, host.Name)
	}
	return names
}

// runHosts keeps the hosts connected until ctx ends. Then it ends all operations before it disconnects: a canceled operation can
// still need its host.
func runHosts(ctx context.Context, machines *fleet.Fleet, operations *operation.Runner) {
	connected, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	defer disconnect()
	var running sync.WaitGroup
	running.Go(func() { _ = machines.Start(connected) }) // which always returns nil
	<-ctx.Done()
	draining, cancel := context.WithTimeout(connected, operationsTimeout)
	defer cancel()
	operations.Drain(draining)
	disconnect()
	running.Wait()
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
