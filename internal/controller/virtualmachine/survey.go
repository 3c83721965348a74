// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/placement"
)

// surveys knows what the hosts have beyond the machines of objects that are recorded there and claim something: machines that were retained, those whose
// objects lost their finalizer, and those of a host that got another name. They take room as all others do.
type surveys struct {
	mu       sync.Mutex
	byHost   map[string]survey
	underway map[string]surveying
}

// survey is what a host was found to have.
type survey struct {
	at time.Time
	// err says why the host could not tell.
	err error
	// strays is the sum of the machines that nobody claims room for.
	strays placement.Allocation
	// answered says that the host has ever told.
	answered bool
}

// unsizedError is the error of a host that has listed its machines, one of which hangs and is claimed by nobody.
type unsizedError struct{ machine string }

func (e unsizedError) Error() string {
	return fmt.Sprintf("machine %q hangs, so that nobody knows how much room it takes", e.machine)
}

// surveying is a survey that has not ended.
type surveying struct {
	// over is closed by end, when nobody has to wait for the survey any longer.
	over chan struct{}
	end  func()
}

const (
	// surveyAgain is how old a survey is before a machine that found no room asks for another one, and before a host that could not tell is
	// asked again.
	surveyAgain = 30 * time.Second
	// surveyPatience is how long passes wait for a survey. A host that takes longer gets no machines before it has told what it has, and does not hold
	// up those of other hosts.
	surveyPatience = 10 * time.Second
)

// survey surveys the hosts that were not surveyed before, and with outdated also those whose survey is old. It reports whether any survey was begun or
// waited for. A host that is down is not asked, because nothing is placed there.
func (r *Reconciler) survey(ctx context.Context, outdated bool) (bool, error) {
	begun := r.surveys.begin(r.fleet.Hosts(), r.now(), outdated)
	for _, host := range begun {
		go r.surveyHost(context.WithoutCancel(ctx), host)
	}
	waits := r.surveys.waits()
	for _, over := range waits {
		select {
		case <-over:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return len(begun) > 0 || len(waits) > 0, nil // What has begun can be over already.
}

// surveyHost surveys a host, which the limits of the fleet bound.
func (r *Reconciler) surveyHost(ctx context.Context, host string) {
	defer r.surveys.end(host)
	before := r.claims.leftovers()
	strays, sizes, err := r.weigh(ctx, host)
	first := r.surveys.set(host, survey{at: r.now(), err: err, strays: strays})
	if err == nil {
		r.claims.surveyed(host, before)
		r.claims.learn(sizes, first)
	}
}

// weigh lists the machines of a host. It returns the sum of those that nobody claims room for there, and the sizes of the others.
func (r *Reconciler) weigh(ctx context.Context, host string) (placement.Allocation, map[types.NamespacedName]machine.Resources, error) {
	var strays placement.Allocation
	driver, ok := r.fleet.Driver(host)
	if !ok {
		return strays, nil, machine.ErrNoHost
	}
	machines, err := driver.List(ctx, r.installation)
	if err != nil {
		return strays, nil, err
	}
	// The objects are read after the machines: a machine whose object is not there has lost it.
	owners, err := r.owners(ctx, host)
	if err != nil {
		return strays, nil, err
	}
	sizes, at := map[types.NamespacedName]machine.Resources{}, kube.Placement{Driver: r.drivers[host], Host: host}
	for _, one := range machines {
		key, owned := owners[types.UID(one.UID)]
		switch claimed := owned && r.claims.has(key, at); {
		case claimed && one.Silent: // What it claims stands.
		case claimed:
			sizes[key] = one.Resources
		case one.Silent:
			return strays, nil, unsizedError{one.NativeName}
		default:
			strays = strays.Plus(placement.Allocation{Resources: one.Resources, Machines: 1})
		}
	}
	return strays, sizes, nil
}

// owners returns the VirtualMachines that are recorded on the host, by the UIDs under which it knows their machines.
func (r *Reconciler) owners(ctx context.Context, host string) (map[types.UID]types.NamespacedName, error) {
	var list cloudnativev1alpha1.VirtualMachineList
	if err := r.client.List(ctx, &list, client.MatchingFields{kube.MachineHostField: host}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list VirtualMachines: %w", err)
	}
	out := make(map[types.UID]types.NamespacedName, len(list.Items))
	for i := range list.Items {
		out[kube.MachineUIDOf(&list.Items[i])] = client.ObjectKeyFromObject(&list.Items[i])
	}
	return out, nil
}

// begin returns the hosts that are up and have to be surveyed, which is underway from now on.
func (s *surveys) begin(hosts []fleet.HostState, now time.Time, outdated bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byHost == nil {
		s.byHost, s.underway = map[string]survey{}, map[string]surveying{}
	}
	var out []string
	for _, state := range hosts {
		name := state.Host.Name
		if _, asked := s.underway[name]; asked || !state.Health.Probed || state.Health.Err != nil {
			continue
		}
		last, known := s.byHost[name]
		if !known || (outdated || last.err != nil) && now.Sub(last.at) >= surveyAgain {
			over := make(chan struct{})
			s.underway[name] = surveying{over, sync.OnceFunc(func() { close(over) })}
			time.AfterFunc(surveyPatience, s.underway[name].end)
			out = append(out, name)
		}
	}
	return out
}

// waits returns what is closed when the surveys that are underway are over.
func (s *surveys) waits() []chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []chan struct{}
	for _, one := range s.underway {
		out = append(out, one.over)
	}
	return out
}

// end ends a survey.
func (s *surveys) end(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.underway[host].end()
	delete(s.underway, host)
}

// set keeps a survey, and reports whether it is the first one that the host could answer.
func (s *surveys) set(host string, found survey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.byHost[host]
	found.answered = last.answered || found.err == nil
	s.byHost[host] = found
	return found.answered && !last.answered
}

// apply adds the strays to what is allocated, and takes hosts of which they are not known out of the choice.
func (s *surveys) apply(hosts []placement.Candidate) []placement.Candidate {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range hosts {
		host := &hosts[i]
		last, known := s.byHost[host.Name]
		_, unsized := errors.AsType[unsizedError](last.err)
		switch {
		case host.Problem != "":
		case !known:
			host.Up, host.Problem = true, "it has not listed its machines yet"
		case unsized:
			host.Up, host.Listed, host.Problem = true, true, last.err.Error()
		case last.err != nil:
			host.Up, host.Problem = true, fmt.Sprintf("it cannot list its machines: %v", last.err)
		default:
			host.Allocated = host.Allocated.Plus(last.strays)
		}
	}
	return hosts
}
