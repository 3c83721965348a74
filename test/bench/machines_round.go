// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/test/rig"
)

const (
	variantMachines = "vms"
	// writesOfMachine is what a VirtualMachine costs until it is Active: the finalizer, the status with its host, the status with the
	// machine that runs, and one event.
	writesOfMachine = 4
	// machineHosts is how many simulated hosts there are.
	machineHosts = 10
	// endpoint makes a host as slow as a container engine whose images are near.
	endpoint = "simulated://?cpu=1000&memory=4Ti&latency.get=2ms&latency.prepare=200ms&latency.create=100ms&latency.start=100ms&latency.delete=50ms"
)

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
	// sample is to learn what is written for a VirtualMachine, nil if nobody asks.
	sample *machineSample

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

// start starts a manager with the hosts.
func (p *machineBench) start(ctx context.Context) (*manager, error) {
	return p.plane.startManager(ctx, "--vm-driver="+p.driver, "--vm-hosts="+p.hosts)
}

// make creates the objects and waits until all of them are Active.
func (p *machineBench) make(ctx context.Context, round int) (time.Duration, error) {
	return p.untilActive(ctx, func(ctx context.Context, i int) error {
		return p.plane.Client.Create(ctx, p.new(machineName(round, i)))
	})
}

// untilActive creates the objects with send and waits until all of them are Active.
func (p *machineBench) untilActive(ctx context.Context, send func(ctx context.Context, i int) error) (time.Duration, error) {
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
	if p.sample != nil {
		if err := p.sample.follow(watching, watchers); err != nil {
			return 0, err
		}
	}
	begun := time.Now()
	if err := forEach(ctx, creators, p.count, send); err != nil {
		return 0, fmt.Errorf("cannot create VirtualMachines: %w", err)
	}
	at, err := done.Wait(ctx, patience)
	return at.Sub(begun), err
}

func machineName(round, i int) string { return fmt.Sprintf("vm-%02d-%04d", round, i) }

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
