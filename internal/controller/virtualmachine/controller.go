// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/operation"
)

// Options are what a Reconciler works with. All are required.
type Options struct {
	// Client reads from a cache with the indexes of kube.AddMachineIndexes, and waits for its own writes.
	Client client.Client
	// Live reads Secrets past the cache.
	Live     client.Reader
	Recorder event.Recorder
	Now      func() time.Time

	// Installation tells our machines from those of another Windlass: the UID of the namespace kube-system.
	Installation string
	Fleet        *fleet.Fleet
	Operations   *operation.Runner
	Retained     *kube.RetainedList
	// DefaultDriver is the driver of objects that name none.
	DefaultDriver string
	// Subject is this process' account, as "kubectl create rolebinding" takes it.
	Subject string
}

// Reconciler reconciles VirtualMachines.
type Reconciler struct {
	*flow.Lifecycle[*cloudnativev1alpha1.VirtualMachine, *scope]

	client        client.Client
	live          client.Reader
	now           func() time.Time
	installation  string
	defaultDriver string
	subject       string

	fleet      *fleet.Fleet
	operations *operation.Runner
	retained   *kube.RetainedList
	// drivers holds the driver of every host, and overcommits the hosts that take more than they have.
	drivers     map[string]string
	overcommits map[string]bool

	claims      claims
	surveys     surveys
	unconfirmed unconfirmed
	// unkept is when this process has ended the record that Windlass keeps a machine suspended.
	unkept flow.Times
	// givenUp is until when a stop that was given up may still turn a machine off.
	givenUp flow.Times
}

// New returns a Reconciler.
func New(options Options) *Reconciler {
	r := &Reconciler{
		client: options.Client, live: options.Live, now: options.Now,
		installation: options.Installation, defaultDriver: options.DefaultDriver, subject: options.Subject,
		fleet: options.Fleet, operations: options.Operations, retained: options.Retained,
		drivers: map[string]string{}, overcommits: map[string]bool{},
	}
	for _, state := range options.Fleet.Hosts() {
		host := state.Host
		r.drivers[host.Name] = host.Driver
		// Docker treats CPU and memory as limits, not reservations, so an engine takes more than it has unless its capacity is
		// configured.
		r.overcommits[host.Name] = host.Driver == machine.DriverDocker && host.Capacity == machine.Resources{}
	}
	r.Lifecycle = &flow.Lifecycle[*cloudnativev1alpha1.VirtualMachine, *scope]{
		Client: options.Client, Live: options.Live, Recorder: options.Recorder, Now: options.Now,
		New:        func() *cloudnativev1alpha1.VirtualMachine { return &cloudnativev1alpha1.VirtualMachine{} },
		Finalizers: []string{cloudnativev1alpha1.Finalizer},
		// The phase hold adds the finalizer, to objects whose machine has a host.
		NeedsFinalizer: func(*cloudnativev1alpha1.VirtualMachine) bool { return false },
		Begin:          func(pass *flow.Pass[*cloudnativev1alpha1.VirtualMachine]) *scope { return &scope{Pass: pass} },
		Phases:         r.phases,
		Describe:       r.describe,
		Announce:       announcements(),
		Wrote:          r.acknowledge,
		Forget:         r.forget,
	}
	return r
}

// scope is what one pass over one VirtualMachine knows.
type scope struct {
	*flow.Pass[*cloudnativev1alpha1.VirtualMachine]

	seen     observation
	decision decision
	// settled says that the decision takes the result of the last operation into account.
	settled bool
}

// phases returns the steps that the state of the object asks for.
func (r *Reconciler) phases(pass *scope) []flow.Phase[*scope] {
	observe := flow.Phase[*scope]{Name: "observe the machine", Run: r.observe}
	operate := flow.Phase[*scope]{Name: "operate the machine", Run: r.operate}
	if pass.Object.DeletionTimestamp != nil {
		return []flow.Phase[*scope]{
			{Name: "locate the machine", Run: r.locate},
			observe,
			{Name: "plan the removal of the machine", Run: decideRemoval},
			{Name: "release the object", Run: r.release},
			operate,
		}
	}
	return []flow.Phase[*scope]{
		{Name: "locate the machine", Run: r.locate},
		{Name: "choose a host", Run: r.claim},
		{Name: "hold the object", Run: r.hold},
		observe,
		{Name: "compare the machine with its host's capacity", Run: r.fit},
		{Name: "plan the machine", Run: decide},
		operate,
	}
}

// decide is the phase around plan.
func decide(_ context.Context, pass *scope) flow.Outcome {
	if pass.seen.hostProblem != nil {
		return *pass.seen.hostProblem
	}
	pass.follow(plan(pass.Object, pass.seen, pass.Now))
	return flow.Done()
}

// decideRemoval is the phase around planRemoval.
func decideRemoval(_ context.Context, pass *scope) flow.Outcome {
	pass.follow(planRemoval(pass.Object, pass.seen, pass.Now))
	return flow.Done()
}

// follow makes the decision that of the pass.
func (s *scope) follow(decided decision) {
	s.decision, s.settled = decided, true
	s.Tell(decided.events...)
	s.LookAgain(aim(decided.wake))
}

// aim returns when to look again so that a pass takes place in that time: the lifecycle lengthens delays by up to a fifth, so a
// pass far ahead aims short, and the passes that follow get closer.
func aim(wait time.Duration) time.Duration {
	if wait <= aimExactly {
		return wait
	}
	return max(wait-wait/6, aimExactly)
}

// aimExactly is a delay of which a fifth does not matter.
const aimExactly = 5 * time.Second

// acknowledge drops the result of an operation that is in the status now, and measures what the status says for the first time.
func (r *Reconciler) acknowledge(pass *scope) {
	measureCreation(pass)
	r.unconfirmed.drop(client.ObjectKeyFromObject(pass.Object))
	if pass.settled && pass.seen.op.Ended() {
		r.operations.Acknowledge(client.ObjectKeyFromObject(pass.Object), pass.seen.op)
	}
}

// forget drops everything that is kept of an object that is gone. Its claim is there still if the object lost its finalizer: then
// the machine is most likely on its host.
func (r *Reconciler) forget(_ context.Context, key client.ObjectKey) error {
	r.operations.Forget(key)
	r.unconfirmed.drop(key)
	r.unkept.Drop(key)
	r.givenUp.Drop(key)
	r.claims.leave(key)
	return nil
}
