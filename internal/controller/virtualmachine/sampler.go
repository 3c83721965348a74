// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	cloudnativev1alpha1ac "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1/applyconfiguration/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
)

// UsageMode says how usage gets into the status.
type UsageMode string

// The ways of usage into the status. Metrics are always fresh.
const (
	// UsageOff: it does not.
	UsageOff UsageMode = "off"
	// UsageCoarse: when it has moved by ten points, or is five minutes old.
	UsageCoarse UsageMode = "coarse"
	// UsageEvery: with every sample.
	UsageEvery UsageMode = "every"
)

const (
	// usageOwner writes the usage, so that it never is in the way of who writes the rest.
	usageOwner = client.FieldOwner("windlass-usage")
	// defaultPeriod is how often counters are read.
	defaultPeriod = 15 * time.Second
	// staleAfter is after how many periods a sample is no longer shown.
	staleAfter = 4
	// coarsePoints and coarseAge are when usage is written again. The age is lengthened by up to a fifth, for each machine
	// differently, so that a thousand that were made together are not written together ever after.
	coarsePoints = 10
	coarseAge    = 5 * time.Minute
)

// sampler reads the counters of all machines of a host at once, outside of the queue, and publishes them.
type sampler struct {
	reader client.Reader
	writer client.Client
	fleet  func() *fleet.Fleet
	now    func() time.Time

	installation string
	mode         UsageMode
	period       time.Duration
	failed       func(err error, host string)

	mu    sync.Mutex
	byKey map[types.NamespacedName]*facts
}

// facts are what the metrics of a machine are made from.
type facts struct {
	uid   types.UID
	at    location
	phase cloudnativev1alpha1.Phase
	// sampled says that sample is set, measured that usage has the processor too.
	sampled, measured bool
	sample            machine.Sample
	usage             machine.Usage
}

func newSampler(r *Reconciler, options Options) *sampler {
	return &sampler{
		reader: r.client, writer: r.client, fleet: func() *fleet.Fleet { return r.fleet }, now: r.now,
		installation: r.installation, mode: cmp.Or(options.Usage, UsageCoarse), period: cmp.Or(options.SamplePeriod, defaultPeriod),
		failed: func(err error, host string) {
			r.log.Error(err, "Cannot read the usage of a host's machines", "host", host)
		},
		byKey: map[types.NamespacedName]*facts{},
	}
}

// note keeps where a machine is and how, for the metrics.
func (s *sampler) note(vm *cloudnativev1alpha1.VirtualMachine, at location) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := client.ObjectKeyFromObject(vm)
	known, ok := s.byKey[key]
	if !ok || known.uid != vm.UID {
		known = &facts{uid: vm.UID}
		s.byKey[key] = known
	}
	known.at, known.phase = at, vm.Status.Phase
}

// forget drops what is kept of an object that is gone.
func (s *sampler) forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byKey, key)
}

// run samples a host once a period until ctx ends. A sample that takes longer makes the next one later and never a second one.
func (s *sampler) run(ctx context.Context, host string) {
	for {
		timer := time.NewTimer(flow.Jitter(s.period * 9 / 10))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if s.fleet().Health(host).Err != nil {
			continue
		}
		if err := s.sample(ctx, host); err != nil && ctx.Err() == nil {
			s.failed(err, host)
		}
	}
}

// sample reads the counters of the host's machines, and writes the usage that is due into their status.
func (s *sampler) sample(ctx context.Context, host string) error {
	driver, ok := s.fleet().Driver(host)
	if !ok {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, max(s.period, lookTimeout))
	defer cancel()
	samples, err := driver.Stats(limited, s.installation)
	if err != nil {
		return fmt.Errorf("cannot read counters: %w", err)
	}
	var list cloudnativev1alpha1.VirtualMachineList
	if err := s.reader.List(ctx, &list, client.MatchingFields{indexHost: host}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list VirtualMachines: %w", err)
	}
	has := s.fleet().Health(host).Info.Capacity
	var problem error
	for i := range list.Items {
		vm := &list.Items[i]
		sample, ok := samples[string(vm.UID)]
		usage, measured := s.take(vm, sample, ok, has)
		if !measured || !s.due(vm, usage) {
			continue
		}
		// One that cannot be written keeps nobody else from being; what is told is the first of them.
		problem = cmp.Or(problem, s.write(ctx, vm, usage))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return problem
}

// take keeps a sample, and returns the usage since the one before.
func (s *sampler) take(
	vm *cloudnativev1alpha1.VirtualMachine, sample machine.Sample, sampled bool, host machine.Resources,
) (machine.Usage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.byKey[client.ObjectKeyFromObject(vm)]
	if !ok || known.uid != vm.UID {
		return machine.Usage{}, false // its first pass is still to come
	}
	if !sampled {
		known.sampled, known.measured = false, false
		return machine.Usage{}, false
	}
	if !known.sampled {
		known.sampled, known.sample = true, sample
		return machine.Usage{}, false
	}
	usage, measured := machine.Measure(known.sample, sample, host)
	if !measured && sample.Boot == known.sample.Boot {
		return machine.Usage{}, false // too soon after the last one
	}
	known.sample, known.usage, known.measured = sample, usage, measured
	return usage, measured
}

// due reports whether the usage is to be written into the status.
func (s *sampler) due(vm *cloudnativev1alpha1.VirtualMachine, usage machine.Usage) bool {
	server := vm.Status.Server
	if s.mode == UsageOff || vm.DeletionTimestamp != nil || server == nil || server.State != stateText(machine.StateRunning) {
		return false
	}
	if s.mode == UsageEvery || server.Usage == nil || server.Usage.SampledAt == nil {
		return true
	}
	moved := math.Abs(float64(server.Usage.CPU)-usage.CPUPercent) >= coarsePoints ||
		math.Abs(float64(server.Usage.Memory)-usage.MemoryPercent) >= coarsePoints
	return moved || usage.SampledAt.Sub(server.Usage.SampledAt.Time) >= coarseAge+spread(vm.UID)
}

// spread is a part of a fifth of coarseAge, the same for a machine every time.
func spread(uid types.UID) time.Duration {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(uid))
	return time.Duration(sum.Sum32()%1000) * coarseAge / 5000
}

// write applies the usage, and nothing else, under a name of its own.
func (s *sampler) write(ctx context.Context, vm *cloudnativev1alpha1.VirtualMachine, usage machine.Usage) error {
	desired := cloudnativev1alpha1ac.VirtualMachine(vm.Name, vm.Namespace).WithUID(vm.UID).
		WithStatus(cloudnativev1alpha1ac.VirtualMachineStatus().
			WithServer(cloudnativev1alpha1ac.Server().
				WithUsage(cloudnativev1alpha1ac.Usage().
					WithCPU(percent(usage.CPUPercent)).
					WithMemory(percent(usage.MemoryPercent)).
					WithCPUCores(percent(usage.CPUCores)).
					WithMemoryBytes(usage.MemoryBytes).
					WithSampledAt(metav1.NewTime(usage.SampledAt.Truncate(time.Second))))))
	err := s.writer.Status().Apply(ctx, desired, usageOwner, client.ForceOwnership, client.DisableReadYourWritesConsistency)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // the object is gone, or another one has its name
	}
	if err != nil {
		return fmt.Errorf("cannot write the usage of %q: %w", client.ObjectKeyFromObject(vm), err)
	}
	usageWrites.Inc()
	return nil
}

// percent rounds to four digits, as the article shows them, and knows no number that JSON does not know.
func percent(value float64) cloudnativev1alpha1.Percent {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0
	}
	return cloudnativev1alpha1.Percent(math.Round(value*10000) / 10000)
}
