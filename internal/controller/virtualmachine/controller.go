// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/patch"
)

// Options are what a Reconciler works with. All but Log and the times are required.
type Options struct {
	// Client reads from a cache with the indexes of AddIndexes, and waits for its own writes.
	Client client.Client
	// Live reads past the cache: Secrets, and what is asked before something is destroyed.
	Live     client.Reader
	Recorder event.Recorder
	Now      func() time.Time
	Log      logr.Logger

	// Installation tells our machines from those of another Windlass: the UID of the namespace kube-system.
	Installation string
	// Namespace is where the list of retained machines is kept.
	Namespace string
	// Hosts are the hosts, and Open opens their drivers.
	Hosts []machine.Host
	Open  machine.Opener
	// DefaultDriver is that of objects which name none.
	DefaultDriver string

	// Usage says how usage gets into the status, and SamplePeriod how often it is read. Default: UsageCoarse, 15 s.
	Usage        UsageMode
	SamplePeriod time.Duration
	// DeleteOrphans removes machines without an object once they have been seen for as long as OrphanGrace; otherwise they are
	// only reported. SweepPeriod is how often they are looked for. Default: 10 min, 5 min.
	DeleteOrphans            bool
	OrphanGrace, SweepPeriod time.Duration
}

// Reconciler keeps VirtualMachines.
type Reconciler struct {
	client        client.Client
	live          client.Reader
	recorder      event.Recorder
	now           func() time.Time
	log           logr.Logger
	installation  string
	defaultDriver string

	fleet *fleet.Fleet
	// drivers are the drivers of the hosts by name, and limited those that never take more than they have.
	drivers map[string]string
	limited map[string]bool

	operations *operations
	ledger     ledger
	slow       slowHosts
	bell       bell
	retained   retainedList
	sampler    *sampler
	sweeper    *sweeper
}

// New returns a Reconciler. It talks to no host before Start.
func New(options Options) *Reconciler {
	r := &Reconciler{
		client: options.Client, live: options.Live, recorder: options.Recorder, now: options.Now, log: options.Log,
		installation: options.Installation, defaultDriver: options.DefaultDriver,
		drivers: map[string]string{}, limited: map[string]bool{},
		retained: retainedList{client: options.Client, live: options.Live, namespace: options.Namespace},
	}
	for _, host := range options.Hosts {
		r.drivers[host.Name] = host.Driver
		// What a container is given is a limit and no reservation, so a Docker Engine takes more than it has unless it is told
		// what to give away.
		r.limited[host.Name] = host.Driver != machine.DriverDocker || host.Capacity != machine.Resources{}
	}
	r.operations = newOperations(options.Now, r.bell.ring)
	r.fleet = fleet.New(options.Hosts, fleet.Options{
		Installation: options.Installation, Open: options.Open, Notify: r.notify, Measure: measureCall, Log: options.Log,
	})
	r.sampler = newSampler(r, options)
	r.sweeper = newSweeper(r, options)
	return r
}

// scope is what one pass over one object knows.
type scope struct {
	// vm is the object as read; its status becomes what the pass observed.
	vm *cloudnativev1alpha1.VirtualMachine
	// before is the object as read or as last written, for the difference that is written and for the events.
	before   *cloudnativev1alpha1.VirtualMachine
	now      time.Time
	seen     observation
	decision decision
	// settled says that the decision has taken in how the last operation ended.
	settled bool
	// silent says that the pass knows nothing that is worth a status.
	silent bool
	// released says that the object is gone with the last finalizer of ours.
	released bool
	events   []event.Event
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	vm := &cloudnativev1alpha1.VirtualMachine{}
	if err := r.client.Get(ctx, request.NamespacedName, vm); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.forget(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if vm.DeletionTimestamp != nil && !slices.Contains(vm.Finalizers, cloudnativev1alpha1.Finalizer) {
		r.forget(request.NamespacedName)
		return reconcile.Result{}, nil // somebody else's finalizer keeps it; there is nothing left that is ours
	}
	pass := &scope{vm: vm, before: vm.DeepCopy(), now: r.now()}
	outcome := flow.Run(ctx, pass, r.phases(vm)...)
	result, err := outcome.Join(r.tell(ctx, pass, outcome)).Result()
	if err == nil && result.RequeueAfter == 0 {
		result.RequeueAfter = pass.decision.wake
	}
	return result, err
}

// phases returns the steps that the object's state asks for.
func (r *Reconciler) phases(vm *cloudnativev1alpha1.VirtualMachine) []flow.Phase[*scope] {
	observe := flow.Phase[*scope]{Name: "observe the machine", Run: r.observe}
	act := flow.Phase[*scope]{Name: "operate the machine", Run: r.act}
	if vm.DeletionTimestamp != nil {
		return []flow.Phase[*scope]{
			observe,
			{Name: "plan the end of the machine", Run: retireMachine},
			{Name: "let the object go", Run: r.release},
			act,
		}
	}
	return []flow.Phase[*scope]{
		{Name: "place the machine", Run: r.place},
		observe,
		{Name: "plan the machine", Run: decide},
		act,
	}
}

// tell writes the status, and records the events once that has succeeded. What an operation came to is forgotten only then.
func (r *Reconciler) tell(ctx context.Context, pass *scope, outcome flow.Outcome) error {
	if pass.silent {
		return nil
	}
	if !pass.released {
		describe(pass, outcome)
		pass.events = append(pass.events, transitions(pass.before, pass.vm)...)
		if _, err := patch.Status(ctx, r.client, pass.before, pass.vm); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	key := client.ObjectKeyFromObject(pass.vm)
	if pass.settled && pass.seen.op.ended() {
		r.operations.forget(key, pass.seen.op)
	}
	if pass.released {
		r.forget(key)
	} else {
		r.sampler.note(pass.vm, pass.seen.at)
	}
	r.recorder.Record(append(pass.events, pass.decision.events...)...)
	return nil
}

// forget drops everything that is kept of an object that is gone.
func (r *Reconciler) forget(key types.NamespacedName) {
	r.operations.drop(key)
	r.ledger.drop(key)
	r.sampler.forget(key)
}
