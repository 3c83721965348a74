// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machineusage

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
)

// +kubebuilder:rbac:groups=cloudnative.tw,resources=virtualmachines,verbs=list;watch
// +kubebuilder:rbac:groups=cloudnative.tw,resources=virtualmachines/status,verbs=patch

// Mode says how often usage is written into the status.
type Mode string

// The modes. Metrics are always fresh.
const (
	// Off: never.
	Off Mode = "off"
	// Coarse: when the usage has moved by ten points, or is five minutes old.
	Coarse Mode = "coarse"
	// Every: with every sample.
	Every Mode = "every"
)

// defaultPeriod is how often counters are read.
const defaultPeriod = 15 * time.Second

// Options are what a Sampler works with. All but Log, Mode and Period are required.
type Options struct {
	// Client reads from a cache with the indexes of kube.AddMachineIndexes.
	Client client.Client
	Fleet  *fleet.Fleet
	// Calls measures the calls of Fleet.
	Calls *Calls
	Now   func() time.Time
	Log   logr.Logger
	// Installation tells our machines from those of another Windlass.
	Installation string
	// Mode says how often usage is written into the status. Default: Coarse.
	Mode Mode
	// Period is how often counters are read. Default: 15 s.
	Period time.Duration
}

// Sampler samples the machines of all hosts.
type Sampler struct {
	client       client.Client
	fleet        *fleet.Fleet
	calls        *Calls
	now          func() time.Time
	log          logr.Logger
	installation string
	mode         Mode
	period       time.Duration
	figures      figures

	mu sync.Mutex
	// byHost holds the last sample of every machine, by host and UID.
	byHost map[string]map[types.UID]sample
}

// sample is what is known of a machine that was sampled.
type sample struct {
	counters machine.Sample
	usage    machine.Usage
	// measured says that usage includes the CPU, which takes two samples.
	measured bool
}

// New returns a Sampler. It calls no host before Start.
func New(options Options) *Sampler {
	return &Sampler{
		client: options.Client, fleet: options.Fleet, calls: options.Calls, now: options.Now, log: options.Log,
		installation: options.Installation, mode: cmp.Or(options.Mode, Coarse), period: cmp.Or(options.Period, defaultPeriod),
		figures: newFigures(), byHost: map[string]map[types.UID]sample{},
	}
}

// Start implements manager.Runnable: it samples every host once a period until ctx ends. It runs on the leader only.
func (s *Sampler) Start(ctx context.Context) error {
	collector := s.collector(ctx)
	if err := metrics.Registry.Register(collector); err != nil {
		return fmt.Errorf("cannot register the metrics of machines: %w", err)
	}
	defer metrics.Registry.Unregister(collector)
	var hosts sync.WaitGroup
	for _, state := range s.fleet.Hosts() {
		hosts.Go(func() { s.watch(ctx, state.Host.Name) })
	}
	hosts.Wait()
	return nil
}

// watch samples one host until ctx ends. A sample that takes longer than a period delays the next one.
func (s *Sampler) watch(ctx context.Context, host string) {
	for {
		timer := time.NewTimer(flow.Jitter(s.period * 9 / 10))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if s.fleet.Health(host).Err != nil {
			continue
		}
		if err := s.Sample(ctx, host); err != nil && ctx.Err() == nil {
			s.log.Error(err, "Cannot sample a host", "host", host)
		}
	}
}

// Sample reads the counters of the host's machines once, and writes the usage that is due into their status. It removes what another mode has left there.
func (s *Sampler) Sample(ctx context.Context, host string) error {
	driver, ok := s.fleet.Driver(host)
	if !ok {
		return nil
	}
	counters, err := driver.Stats(ctx, s.installation)
	if err != nil {
		return fmt.Errorf("cannot read counters: %w", err)
	}
	var list cloudnativev1alpha1.VirtualMachineList
	if err := s.client.List(ctx, &list, client.MatchingFields{kube.MachineHostField: host}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list VirtualMachines: %w", err)
	}
	fresh := s.take(host, list.Items, counters)
	var problem error
	for i := range list.Items {
		vm := &list.Items[i]
		if outdated(s.mode, vm) {
			problem = cmp.Or(problem, s.clear(ctx, vm))
		}
		usage, ok := fresh[vm.UID]
		if !ok || !due(s.mode, vm, usage) {
			continue
		}
		// A failed write does not keep the others from being written. The first error is returned.
		problem = cmp.Or(problem, s.write(ctx, vm, usage))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return problem
}

// take keeps the samples of a host's machines, drops those of machines that have none any more, and returns the usage that this
// sample has measured.
func (s *Sampler) take(
	host string, machines []cloudnativev1alpha1.VirtualMachine, counters map[string]machine.Sample,
) map[types.UID]machine.Usage {
	capacity := s.fleet.Health(host).Info.Capacity
	s.mu.Lock()
	defer s.mu.Unlock()
	before, after := s.byHost[host], make(map[types.UID]sample, len(machines))
	fresh := map[types.UID]machine.Usage{}
	for i := range machines {
		uid := machines[i].UID
		later, running := counters[string(kube.MachineUIDOf(&machines[i]))]
		if !running {
			continue
		}
		earlier, known := before[uid]
		next, isNew := follow(earlier, known, later, capacity)
		after[uid] = next
		if isNew && next.measured {
			fresh[uid] = next.usage
		}
	}
	s.byHost[host] = after
	return fresh
}
