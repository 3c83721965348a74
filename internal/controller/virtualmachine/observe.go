// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/status"
)

// recheckHost is how often a machine checks a host that does not answer. Usually the host wakes it.
const recheckHost = time.Minute

// observation is what a pass has observed.
type observation struct {
	// observed is true once the pass has observed the host.
	observed bool
	// at is where the machine is, or will be. It is zero if that is not decided.
	at kube.Placement
	// tentative says that nothing was created there.
	tentative bool
	// unplaced says that no host can take the machine, which does not exist.
	unplaced bool
	// hostProblem is why the host cannot be asked, nil if it can.
	hostProblem *flow.Outcome
	// health of the host.
	health fleet.Health
	// unkept is when this process has ended the record that Windlass keeps the machine suspended, the zero time if it has not.
	unkept time.Time
	// givenUp is until when a stop that was given up may still turn the machine off, the zero time for none.
	givenUp time.Time
	// op is the progress of the operation, nil for none.
	op *operation.Progress
	// looked says that the host was asked for the machine. Then found is its answer, nil if there is no machine.
	looked bool
	found  *machine.Observed
	// answered is when the host had answered. A machine can have been started since the pass began: the call of a manager that was killed
	// may arrive late.
	answered time.Time
	// spec is the desired machine.
	spec machine.Spec
	// tooLarge is why the machine keeps its size, which then is that of spec, nil if it need not.
	tooLarge *refusal
	// secretProblem is why a Secret cannot be used, nil if all can.
	secretProblem *secretError
}

// capabilities of the host's driver.
func (o observation) capabilities() machine.Capabilities { return o.health.Info.Capabilities }

// locate is the phase that finds out where the machine is: where the status says. An object with our finalizer and without that
// record may still have a machine, so all hosts are asked: it is of an earlier version, or its status was lost.
func (r *Reconciler) locate(ctx context.Context, pass *scope) flow.Outcome {
	vm := pass.Object
	pass.seen.at, pass.seen.tentative = kube.PlacementOf(vm), kube.IsTentative(vm)
	if pass.seen.tentative && (vm.DeletionTimestamp != nil || r.drivers[pass.seen.at.Host] != pass.seen.at.Driver) {
		// No driver was called there, so there is nothing to remove, and nothing to wait for.
		pass.seen.at, pass.seen.tentative = kube.Placement{}, false
		return flow.Done()
	}
	if pass.seen.at.Host != "" || !slices.Contains(vm.Finalizers, cloudnativev1alpha1.Finalizer) ||
		status.IsPaused(vm) && vm.DeletionTimestamp == nil {
		return flow.Done()
	}
	at, problem := r.recall(ctx, vm)
	if problem != nil && !leavesMachine(vm) {
		pass.seen.observed, pass.seen.hostProblem = true, problem
		return *problem
	}
	pass.seen.at = at
	return flow.Done()
}

// recall looks on all hosts for a machine whose place is not recorded. With a problem, it returns the first host that may have it and does not answer.
func (r *Reconciler) recall(ctx context.Context, vm *cloudnativev1alpha1.VirtualMachine) (kube.Placement, *flow.Outcome) {
	former := kube.FormerPlacementOf(vm).Host
	var silent kube.Placement
	var problem *flow.Outcome
	for _, state := range r.fleet.Hosts() {
		driver, ok := r.fleet.Driver(state.Host.Name)
		if !ok {
			continue
		}
		_, err := driver.Get(ctx, identity(vm, r.installation))
		switch {
		case err == nil:
			return kube.Placement{Driver: state.Host.Driver, Host: state.Host.Name}, nil
		case errors.Is(err, machine.ErrNotFound) || problem != nil:
		case mayExist(vm) || !state.Health.Probed || state.Host.Name == former:
			// The machine may be on this host.
			silent = kube.Placement{Driver: state.Host.Driver, Host: state.Host.Name}
			problem = new(flow.Wait(cloudnativev1alpha1.ReasonDriverUnreachable, fmt.Sprintf(
				"host %q to tell whether it has the machine: %v%s", state.Host.Name, err, wayOut(vm)), recheckPlace))
		}
	}
	return silent, problem
}

// mayExist reports whether a machine may have been made, as the status tells. Nothing is made before a status has been written, nor before one that tells
// of the first operation: an object that has only waited for a place, or for the end of a pause, says that its machine does not exist.
func mayExist(vm *cloudnativev1alpha1.VirtualMachine) bool {
	if len(vm.Status.Conditions) == 0 || status.Unwritten(vm.Status.Conditions) {
		return false
	}
	told := apimeta.FindStatusCondition(vm.Status.Conditions, cloudnativev1alpha1.ConditionProvisioned)
	return told == nil || told.Status != metav1.ConditionFalse || told.Reason != cloudnativev1alpha1.ReasonPending
}

// observe is the phase that observes the machine, its host and its operation.
func (r *Reconciler) observe(ctx context.Context, pass *scope) flow.Outcome {
	seen := &pass.seen
	key := client.ObjectKeyFromObject(pass.Object)
	seen.op, seen.unkept, seen.givenUp = r.lookAtOperation(pass), r.unkept.Last(key), r.givenUp.Last(key)
	if seen.at.Host == "" {
		seen.observed = true
		return flow.Done()
	}
	driver, problem := r.host(pass.Object, seen.at)
	if problem != nil {
		seen.observed, seen.hostProblem = true, problem
		return flow.Done()
	}
	seen.health = r.fleet.Health(seen.at.Host)
	if !seen.health.Probed {
		// The manager has just started. The status may well be true, so it stays until the host was asked.
		pass.Silence()
		return flow.Wait(cloudnativev1alpha1.ReasonDriverUnreachable, "the first answer of the host", recheckHost)
	}
	seen.observed = true
	if err := seen.health.Err; err != nil {
		seen.hostProblem = unreachable(pass.Object, *seen, err)
		return flow.Done()
	}
	if seen.op.Running() {
		return flow.Done() // the operation tells more than the host
	}
	var held secrets
	if pass.Object.DeletionTimestamp == nil {
		var err error
		held, err = r.readSecrets(ctx, pass.Object)
		if problem, ok := errors.AsType[*secretError](err); ok {
			seen.secretProblem = problem
		} else if err != nil {
			return flow.Fail(err)
		}
	}
	seen.spec = specOf(pass.Object, r.installation, seen.at.Driver, held)
	seen.spec.Kept = keptDisks(pass.Object, pass.Now)
	outcome := look(ctx, driver, pass.Object, seen)
	seen.answered = r.now()
	return outcome
}

// lookAtOperation returns the progress of the operation, nil for none. One whose end is in the status already is acknowledged.
func (r *Reconciler) lookAtOperation(pass *scope) *operation.Progress {
	key := client.ObjectKeyFromObject(pass.Object)
	op := r.operations.Look(key, kube.MachineUIDOf(pass.Object))
	events, told := r.unconfirmed.take(pass.Object, op)
	if !told {
		return op
	}
	r.operations.Acknowledge(key, op)
	pass.Tell(events...)
	return nil
}

// host returns the driver of the host where the machine is, or why there is none.
func (r *Reconciler) host(vm *cloudnativev1alpha1.VirtualMachine, at kube.Placement) (machine.Driver, *flow.Outcome) {
	if problem := r.fleet.Problem(); problem != nil {
		return nil, new(flow.Stall(cloudnativev1alpha1.ReasonHostNotConfigured, problem))
	}
	driver, ok := r.fleet.Driver(at.Host)
	if !ok || r.drivers[at.Host] != at.Driver {
		return nil, new(flow.Stall(cloudnativev1alpha1.ReasonHostNotConfigured, fmt.Errorf(
			"the machine is on host %q with driver %s, which is not in the manager's configuration%s", at.Host, at.Driver, wayOut(vm))))
	}
	otherHost := vm.Spec.Host != "" && vm.Spec.Host != at.Host
	otherDriver := vm.Spec.Driver != "" && string(vm.Spec.Driver) != at.Driver
	if vm.DeletionTimestamp == nil && (otherHost || otherDriver) {
		return nil, new(flow.Stall(cloudnativev1alpha1.ReasonHostMismatch, fmt.Errorf(
			"the machine is on host %q with driver %s and is never moved: create another VirtualMachine for another host", at.Host, at.Driver)))
	}
	return driver, nil
}

// look asks the host for the machine.
func look(ctx context.Context, driver machine.Driver, vm *cloudnativev1alpha1.VirtualMachine, seen *observation) flow.Outcome {
	found, err := driver.Get(ctx, seen.spec.Identity)
	switch {
	case err == nil && (found.Namespace != vm.Namespace || found.Name != vm.Name):
		seen.hostProblem = new(flow.Stall(cloudnativev1alpha1.ReasonHostMismatch, fmt.Errorf(
			"host %q has machine %q, which status.server.uid names, for another VirtualMachine: somebody who may write the status must remove that field",
			seen.at.Host, found.UID)))
	case err == nil:
		seen.looked, seen.found = true, &found
	case errors.Is(err, machine.ErrNotFound):
		seen.looked = true
	case ctx.Err() != nil:
		return flow.Fail(ctx.Err())
	case errors.Is(err, machine.ErrUnreachable):
		seen.hostProblem = unreachable(vm, *seen, err)
	case leavesMachine(vm):
		// It stays as it is, whatever its host says.
	default:
		return flow.Fail(fmt.Errorf("cannot get the machine from host %q: %w", seen.at.Host, err))
	}
	return flow.Done()
}

// leavesMachine reports whether the object is being deleted without its machine, so that no host has to be waited for.
func leavesMachine(vm *cloudnativev1alpha1.VirtualMachine) bool {
	return vm.DeletionTimestamp != nil && vm.Spec.DeletionPolicy == cloudnativev1alpha1.DeletionRetain
}

// unreachable says that the host does not answer, and what the machine waits for.
func unreachable(vm *cloudnativev1alpha1.VirtualMachine, seen observation, err error) *flow.Outcome {
	text, again := fmt.Sprintf("host %q to answer", seen.at.Host), recheckHost
	if seen.tentative && vm.Spec.Host == "" {
		text, again = text+", or another host that can take the machine", recheckPlace
	}
	return new(flow.Wait(cloudnativev1alpha1.ReasonDriverUnreachable, fmt.Sprintf("%s: %v%s", text, err, wayOut(vm)), again))
}

// wayOut tells how an object that is being deleted need not wait for its host. Empty if it does not wait.
func wayOut(vm *cloudnativev1alpha1.VirtualMachine) string {
	if vm.DeletionTimestamp == nil || leavesMachine(vm) {
		return ""
	}
	return ". Set spec.deletionPolicy to Retain to delete the VirtualMachine and leave its machine as it is"
}

// allProbed reports whether every host was asked for its health. Before that, no host is known to be down.
func allProbed(hosts []fleet.HostState) bool {
	return !slices.ContainsFunc(hosts, func(s fleet.HostState) bool { return !s.Health.Probed })
}
