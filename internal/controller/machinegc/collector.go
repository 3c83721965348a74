// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machinegc

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
)

// +kubebuilder:rbac:groups=cloudnative.tw,resources=virtualmachines,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// How often hosts are swept, and how long an orphan is watched before it may be removed.
const (
	defaultPeriod = 5 * time.Minute
	defaultGrace  = 10 * time.Minute
)

// Options are what a Collector works with. All but Log, Remove, Grace and Period are required.
type Options struct {
	// Client reads from a cache, and Live past it.
	Client   client.Reader
	Live     client.Reader
	Recorder event.Recorder
	Now      func() time.Time
	Log      logr.Logger
	Fleet    *fleet.Fleet
	Retained *kube.RetainedList
	// Wake queues a VirtualMachine whose status differs from its machine.
	Wake func(types.NamespacedName)
	// Installation tells our machines from those of another Windlass.
	Installation string
	// Remove removes orphans that have been seen for Grace. Otherwise they are only reported. Default of Grace: 10 min.
	Remove bool
	Grace  time.Duration
	// Period is how often each host is swept. Default: 5 min.
	Period time.Duration
}

// Collector sweeps all hosts.
type Collector struct {
	options Options
	orphans *prometheus.GaugeVec

	mu sync.Mutex
	// before is what earlier sweeps have seen, by host.
	before map[string]memory
	// sweeps is how many there were.
	sweeps int
}

// New returns a Collector. It calls no host before Start.
func New(options Options) *Collector {
	options.Grace = cmp.Or(options.Grace, defaultGrace)
	options.Period = cmp.Or(options.Period, defaultPeriod)
	return &Collector{
		options: options,
		orphans: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "windlass_vm_orphans",
			Help: "Machines of this installation on a host that have no VirtualMachine, or are the second one of theirs, as of the last sweep.",
		}, []string{"host"}),
		before: map[string]memory{},
	}
}

// Start implements manager.Runnable: it sweeps every host once a period until ctx ends. It runs on the leader only.
func (c *Collector) Start(ctx context.Context) error {
	if err := metrics.Registry.Register(c.orphans); err != nil {
		return fmt.Errorf("cannot register the metric of orphans: %w", err)
	}
	defer metrics.Registry.Unregister(c.orphans)
	var hosts sync.WaitGroup
	for _, state := range c.options.Fleet.Hosts() {
		hosts.Go(func() { c.watch(ctx, state.Host.Name) })
	}
	hosts.Wait()
	return nil
}

// watch sweeps one host until ctx ends.
func (c *Collector) watch(ctx context.Context, host string) {
	for {
		timer := time.NewTimer(flow.Jitter(c.options.Period))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if c.options.Fleet.Health(host).Err != nil {
			continue
		}
		if err := c.Sweep(ctx, host); err != nil && ctx.Err() == nil {
			c.options.Log.Error(err, "Cannot sweep a host", "host", host)
		}
	}
}

// Sweep looks at all machines of a host once.
func (c *Collector) Sweep(ctx context.Context, host string) error {
	driver, ok := c.options.Fleet.Driver(host)
	if !ok {
		return nil
	}
	seen, err := c.observe(ctx, driver, host)
	if err != nil {
		return err
	}
	before := c.seenBefore(host)
	if err := c.confirm(ctx, driver, &seen, before); err != nil {
		return err
	}
	c.compare(&seen)
	decided := plan(seen, before, c.options.Now(), c.limits())
	decided.machines = map[string]bool{}
	for _, one := range seen.machines {
		decided.machines[one.UID] = true
	}
	c.remember(host, decided.memory, seen.complete)
	return c.act(ctx, driver, host, decided, seen.problems)
}

// limits are the options that a plan depends on.
func (c *Collector) limits() limits { return limits{remove: c.options.Remove, grace: c.options.Grace} }

func (c *Collector) seenBefore(host string) memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.before[host]
}

// compare adds what the last sweeps of other hosts have found, and whether all of these hosts were swept since the last sweep of this one of which that was
// true.
func (c *Collector) compare(seen *observation) {
	hosts := c.options.Fleet.Hosts()
	c.mu.Lock()
	defer c.mu.Unlock()
	seen.elsewhere, seen.others, seen.complete = map[string]bool{}, map[string]map[string]bool{}, true
	for _, state := range hosts {
		if other := state.Host.Name; other != seen.host {
			maps.Copy(seen.elsewhere, c.before[other].stays)
			seen.others[other] = c.before[other].machines // which nobody changes any more
			seen.complete = seen.complete && c.before[other].number > c.before[seen.host].complete
		}
	}
}

func (c *Collector) remember(host string, seen memory, complete bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweeps++
	seen.number, seen.complete = c.sweeps, c.before[host].complete
	if complete {
		seen.complete = c.sweeps
	}
	c.before[host] = seen
	c.orphans.WithLabelValues(host).Set(float64(len(seen.since) + len(seen.doubled)))
}
