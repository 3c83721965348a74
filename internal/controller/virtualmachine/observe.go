// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
)

const (
	// lookTimeout is how long a host may take to show a machine, so that one that hangs takes no worker from the others.
	lookTimeout = 5 * time.Second
	// lookRest is how long a host that took longer is taken to be unreachable. If it is, the fleet finds out meanwhile.
	lookRest = 15 * time.Second
	// recheckHost is how often a machine on a host that does not answer looks whether it does; usually it is woken up.
	recheckHost = time.Minute
)

// observation is what a pass has seen.
type observation struct {
	// observed is true once the pass has looked.
	observed bool
	// at is where the machine is, or will be; zero if that is not decided.
	at location
	// hostProblem is why the host cannot be asked, nil if it can.
	hostProblem *flow.Outcome
	// health of the host.
	health fleet.Health
	// op is how the operation stands, nil for none.
	op *progress
	// looked says that the host was asked for the machine, and found is what it showed: nil for none.
	looked bool
	found  *machine.Observed
	// spec is what the machine shall be.
	spec machine.Spec
	// secretProblem is why a Secret cannot be used, nil if all can.
	secretProblem *secretError
}

// capabilities of the host's driver.
func (o observation) capabilities() machine.Capabilities { return o.health.Info.Capabilities }

// observe is the phase that reads.
func (r *Reconciler) observe(ctx context.Context, pass *scope) flow.Outcome {
	seen := &pass.seen
	seen.op = r.operations.look(client.ObjectKeyFromObject(pass.vm), pass.vm.UID)
	seen.at = locationOf(pass.vm)
	if seen.at.host == "" {
		seen.observed = true
		return flow.Done()
	}
	driver, problem := r.host(pass.vm, seen.at)
	if problem != nil {
		seen.observed, seen.hostProblem = true, problem
		return flow.Done()
	}
	seen.health = r.fleet.Health(seen.at.host)
	if !seen.health.Probed {
		// The manager has just started. What the status says may well be true: it is left alone until the host was asked.
		pass.silent = true
		return flow.Wait(cloudnativev1alpha1.ReasonDriverUnreachable, "the first answer of the host", recheckHost)
	}
	seen.observed = true
	if err := seen.health.Err; err != nil {
		seen.hostProblem = unreachable(seen.at.host, err)
		return flow.Done()
	}
	if seen.op.running() {
		return flow.Done() // which says more than the host would
	}
	var held secrets
	if pass.vm.DeletionTimestamp == nil {
		var err error
		held, err = r.readSecrets(ctx, pass.vm)
		if problem, ok := errors.AsType[*secretError](err); ok {
			seen.secretProblem = problem
		} else if err != nil {
			return flow.Fail(err)
		}
	}
	seen.spec = specOf(pass.vm, r.installation, seen.at.driver, held)
	return r.look(ctx, driver, seen)
}

// host returns the driver of the host where the machine is, or why there is none.
func (r *Reconciler) host(vm *cloudnativev1alpha1.VirtualMachine, at location) (machine.Driver, *flow.Outcome) {
	driver, ok := r.fleet.Driver(at.host)
	if !ok || r.drivers[at.host] != at.driver {
		stalled := flow.Stall(cloudnativev1alpha1.ReasonHostNotConfigured, fmt.Errorf(
			"the machine is on host %q with driver %s, which the manager is not configured with", at.host, at.driver))
		return nil, &stalled
	}
	wanted := location{driver: string(vm.Spec.Driver), host: vm.Spec.Host}
	if vm.DeletionTimestamp == nil &&
		(wanted.host != "" && wanted.host != at.host || wanted.driver != "" && wanted.driver != at.driver) {
		stalled := flow.Stall(cloudnativev1alpha1.ReasonHostMismatch, fmt.Errorf(
			"the machine is on host %q with driver %s, and stays there: make a new VirtualMachine for another place", at.host, at.driver))
		return nil, &stalled
	}
	return driver, nil
}

// look asks the host for the machine.
func (r *Reconciler) look(ctx context.Context, driver machine.Driver, seen *observation) flow.Outcome {
	if r.slow.rests(seen.at.host, r.now()) {
		seen.hostProblem = unreachable(seen.at.host, errSlow)
		return flow.Done()
	}
	limited, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	found, err := driver.Get(limited, seen.spec.Identity)
	switch {
	case err == nil:
		seen.looked, seen.found = true, &found
	case errors.Is(err, machine.ErrNotFound):
		seen.looked = true
	case ctx.Err() != nil:
		return flow.Fail(ctx.Err())
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		r.slow.note(seen.at.host, r.now())
		seen.hostProblem = unreachable(seen.at.host, errSlow)
	case errors.Is(err, machine.ErrUnreachable):
		seen.hostProblem = unreachable(seen.at.host, err)
	default:
		return flow.Fail(fmt.Errorf("cannot look at the machine on host %q: %w", seen.at.host, err))
	}
	return flow.Done()
}

// errSlow says that a host takes too long.
var errSlow = fmt.Errorf("%w: no answer within %s", machine.ErrUnreachable, lookTimeout)

func unreachable(host string, err error) *flow.Outcome {
	return new(flow.Wait(cloudnativev1alpha1.ReasonDriverUnreachable, fmt.Sprintf("host %q to answer: %v", host, err), recheckHost))
}

// slowHosts remembers hosts that took too long.
type slowHosts struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (s *slowHosts) note(host string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until == nil {
		s.until = map[string]time.Time{}
	}
	s.until[host] = now.Add(lookRest)
}

func (s *slowHosts) rests(host string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.until[host])
}
