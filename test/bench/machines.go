// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	vmachine "github.com/windlass-operator/windlass/internal/machine"
	simdriver "github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/test/rig"
)

const (
	variantMachines = "vms"
	variantDrivers  = "drivers"
	// writesOfMachine is what a VirtualMachine costs until it is Active: the finalizer, the status with its host, the status with the
	// machine that runs, and one event.
	writesOfMachine = 4
	// machineHosts is how many simulated hosts there are.
	machineHosts = 10
	// endpoint makes a host as slow as a container engine whose images are near.
	endpoint = "simulated://?cpu=1000&memory=4Ti&latency.get=2ms&latency.prepare=200ms&latency.create=100ms&latency.start=100ms&latency.delete=50ms"
)

// machines measures how long many VirtualMachines take until all of them are Active, against the same calls of the same drivers in a
// bare loop, and what is written while nothing changes.
func machines(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	n := b.options.Machines
	s := section{Title: fmt.Sprintf("%d VirtualMachines created at once on %d simulated hosts, then left alone for %s", n, machineHosts, b.options.Window)}
	if err := r.addNamespace(ctx); err != nil {
		return s, err
	}
	p := &machineBench{
		plane: r, count: n, window: b.options.Window, hosts: filepath.Join(r.Dir, "hosts.yaml"), new: newMachine,
		hostList: simulatedHosts(), driver: vmachine.DriverSimulated,
	}
	p.measure(&s, "bare loop of fetch, create and start")
	if p.window > 0 {
		p.memory = s.measure("resident with all of them", "MiB")
	}
	if err := p.writeHosts(); err != nil {
		return s, err
	}
	err := b.interleave(ctx, variant{variantDrivers, p.drivers}, variant{variantMachines, p.machines})
	if err == nil && p.window > 0 {
		b.tell("      %s with all of them, and nothing to do", p.window)
		err = p.steady(ctx, &s)
	}
	s.Checks = append(s.Checks, p.beyond)
	s.Ratios = append(s.Ratios, compare("vms to the bare loop of the drivers' calls", p.took, p.floor, 1.2))
	return s, err
}

// machineBench is the state of the scenario.
type machineBench struct {
	plane  *controlPlane
	count  int
	window time.Duration
	// hosts is the path of the file that lists them, hostList what is in it.
	hosts, hostList string
	// driver is that of the hosts.
	driver string
	new    func(name string) *cloudnativev1alpha1.VirtualMachine

	floor, took, perMachine, cost, costServer, memory *series
	beyond                                            check
}

func (p *machineBench) measure(s *section, floor string) {
	p.beyond = check{Name: "writes by windlass for each VirtualMachine, beyond finalizer, host, status and event"}
	p.floor = s.measure(floor, "s")
	p.took = s.measure("until all VirtualMachines are Active", "s")
	p.perMachine = s.measure("writes by windlass until then", "each")
	p.cost = s.measure("CPU of windlass", "ms each")
	p.costServer = s.measure("CPU of apiserver", "ms each")
}

func simulatedHosts() string {
	var list strings.Builder
	for i := range machineHosts {
		fmt.Fprintf(&list, "- {name: host-%02d, driver: simulated, endpoint: %q}\n", i, endpoint)
	}
	return list.String()
}

func (p *machineBench) writeHosts() error {
	if err := os.WriteFile(p.hosts, []byte("hosts:\n"+p.hostList), 0o600); err != nil {
		return fmt.Errorf("cannot write the file of hosts: %w", err)
	}
	return nil
}

// drivers makes the calls that the machines need on the hosts, as many at a time as the manager makes, and nothing else.
func (p *machineBench) drivers(ctx context.Context, round int) error {
	begun := time.Now()
	errs := make(chan error, machineHosts)
	for host := range machineHosts {
		go func() { errs <- p.drive(ctx, host) }()
	}
	for range machineHosts {
		if err := <-errs; err != nil {
			return err
		}
	}
	p.floor.add(round, time.Since(begun).Seconds())
	return nil
}

// drive makes the share of one host. Fetching has places of its own, as in the manager.
func (p *machineBench) drive(ctx context.Context, number int) error {
	driver, err := simdriver.Open(ctx, vmachine.Host{Name: "floor", Endpoint: endpoint})
	if err != nil {
		return err
	}
	fetches, actions := make(chan struct{}, vmachine.DefaultMaxCalls), make(chan struct{}, vmachine.DefaultMaxCalls)
	in := func(lane chan struct{}, do func() error) error {
		lane <- struct{}{}
		defer func() { <-lane }()
		return do()
	}
	var group sync.WaitGroup
	share := p.count / machineHosts
	errs := make(chan error, share)
	for i := range share {
		group.Go(func() {
			id := vmachine.Identity{Installation: "floor", UID: fmt.Sprintf("%d-%d", number, i), Name: fmt.Sprintf("vm-%d", i)}
			spec := vmachine.Spec{Identity: id, Image: vmachine.Image{Name: cloudnativev1alpha1.DefaultImage}}
			err := in(fetches, func() error { return driver.Prepare(ctx, spec) })
			if err == nil {
				err = in(actions, func() error { _, err := driver.Create(ctx, spec); return err })
			}
			if err == nil {
				err = in(actions, func() error { return driver.Start(ctx, id) })
			}
			errs <- err
		})
	}
	group.Wait()
	for range share {
		if err := <-errs; err != nil {
			return fmt.Errorf("cannot drive a simulated host: %w", err)
		}
	}
	return driver.Close()
}

// start starts a manager with the hosts.
func (p *machineBench) start(ctx context.Context) (*manager, error) {
	return p.plane.startManager(ctx, "--vm-driver="+p.driver, "--vm-hosts="+p.hosts)
}

// make creates the objects and waits until all of them are Active.
func (p *machineBench) make(ctx context.Context, round int) (time.Duration, error) {
	watching, end := context.WithCancel(ctx)
	defer end()
	watchers, err := p.plane.watchers(watching)
	if err != nil {
		return 0, err
	}
	done, err := rig.Await(ctx, watchers, &cloudnativev1alpha1.VirtualMachine{}, p.count, func(object client.Object) bool {
		vm, ok := object.(*cloudnativev1alpha1.VirtualMachine)
		return ok && vm.Status.Phase == cloudnativev1alpha1.PhaseActive
	})
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	err = forEach(ctx, creators, p.count, func(ctx context.Context, i int) error {
		return p.plane.Client.Create(ctx, p.new(fmt.Sprintf("vm-%02d-%04d", round, i)))
	})
	if err != nil {
		return 0, fmt.Errorf("cannot create VirtualMachines: %w", err)
	}
	at, err := done.Wait(ctx, patience)
	return at.Sub(begun), err
}

func (p *machineBench) machines(ctx context.Context, round int) error {
	m, err := p.start(ctx)
	if err != nil {
		return err
	}
	mark, err := p.plane.audit.mark()
	if err != nil {
		return err
	}
	before := readUsage(p.plane.pids)
	took, err := p.make(ctx, round)
	if err != nil {
		return err
	}
	wrote, err := p.plane.audit.since(mark)
	if err != nil {
		return err
	}
	after := readUsage(p.plane.pids)
	p.took.add(round, took.Seconds())
	count := wrote.sum(by(agentWindlass), besidesLease)
	p.perMachine.add(round, float64(count)/float64(p.count))
	p.beyond.Got = append(p.beyond.Got, beyond(count, p.count, writesOfMachine))
	p.cost.add(round, after.per(before, agentWindlass, p.count))
	p.costServer.add(round, after.per(before, processAPIServer, p.count))
	if err := p.clean(ctx); err != nil {
		return err
	}
	return m.stop()
}

// steady counts what is written while all machines run and nothing changes. The first usage of each machine, which is written as soon
// as there is one, comes before.
func (p *machineBench) steady(ctx context.Context, s *section) error {
	m, err := p.start(ctx)
	if err != nil {
		return err
	}
	if _, err := p.make(ctx, 0); err != nil {
		return err
	}
	for { // until every machine has its first usage
		written, err := m.metric(ctx, "windlass_vm_usage_status_writes_total")
		if err != nil {
			return err
		}
		if int(written) >= p.count {
			break
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	mark, err := p.plane.audit.mark()
	if err != nil {
		return err
	}
	used := rig.CPUTime(m.PID)
	if err := pause(ctx, p.window); err != nil {
		return err
	}
	wrote, err := p.plane.audit.since(mark)
	if err != nil {
		return err
	}
	status := wrote.sum(by(agentWindlass), to("virtualmachines/status"))
	s.note("in %s: %d status writes by windlass, %.2f for each VirtualMachine; all its writes: %s; %.0f ms of CPU a second", p.window, status,
		float64(status)/float64(p.count), wrote.text(by(agentWindlass), besidesLease),
		float64(rig.CPUTime(m.PID)-used)/float64(time.Millisecond)/p.window.Seconds())
	now, _ := resident(m.PID)
	p.memory.add(1, now)
	if err := p.clean(ctx); err != nil {
		return err
	}
	return m.stop()
}

// clean deletes all objects and waits until their machines are gone, and they with them.
func (p *machineBench) clean(ctx context.Context) error {
	kind := cloudnativev1alpha1.SchemeGroupVersion.WithKind("VirtualMachine")
	if err := p.plane.deleteAll(ctx, kind); err != nil {
		return err
	}
	if err := p.plane.empty(ctx, kind); err != nil {
		return err
	}
	return p.plane.audit.quiet(ctx, agentWindlass, silence)
}

func newMachine(name string) *cloudnativev1alpha1.VirtualMachine {
	return &cloudnativev1alpha1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: benchNamespace, Name: name},
		Spec: cloudnativev1alpha1.VirtualMachineSpec{Resource: corev1.ResourceList{
			cloudnativev1alpha1.ResourceCPU: resource.MustParse("2"), cloudnativev1alpha1.ResourceMemory: resource.MustParse("4G"),
		}},
	}
}
