// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
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

// surveys knows what the hosts have beyond the machines of objects that are recorded there: machines that were retained, those whose objects lost
// their finalizer, and those of a host that got another name. They take room as all others do.
type surveys struct {
	// running is held by the worker that makes a survey.
	running sync.Mutex
	mu      sync.Mutex
	byHost  map[string]survey
}

// survey is what a host was found to have.
type survey struct {
	at time.Time
	// err says why the host could not tell.
	err error
	// strays is the sum of the machines without objects that are recorded there.
	strays placement.Allocation
	// answered says that the host has ever told.
	answered bool
}

// surveyAgain is how old a survey is before a machine that found no room asks for another one, and before a host that could not tell is
// asked again.
const surveyAgain = 30 * time.Second

// survey surveys the hosts that were not surveyed before, and with outdated also those whose survey is old. It reports whether it has
// surveyed any. A host that is down is not asked, because nothing is placed there.
func (r *Reconciler) survey(ctx context.Context, outdated bool) (bool, error) {
	r.surveys.running.Lock()
	defer r.surveys.running.Unlock()
	due := r.surveys.due(r.fleet.Hosts(), r.now(), outdated)
	if len(due) == 0 {
		return false, nil
	}
	before := r.claims.leftovers()
	lists := r.listMachines(ctx, due)
	// The objects are read after the machines: a machine whose object is not there has lost it.
	owners, err := r.owners(ctx)
	if err != nil {
		return false, err
	}
	for i, host := range due {
		strays, sizes := lists[i].divide(host, owners)
		first := r.surveys.set(host, survey{at: r.now(), err: lists[i].err, strays: strays})
		if lists[i].err == nil {
			r.claims.surveyed(host, before)
		}
		if first { // Later, a list can be older than a claim.
			r.claims.raise(sizes)
		}
	}
	return true, ctx.Err()
}

// machineList is what a host answers.
type machineList struct {
	machines []machine.Observed
	err      error
}

// divide returns the sum of the machines that have no object which is recorded on the host, and the sizes of the others by their objects.
func (l machineList) divide(host string, owners map[types.UID]owner) (placement.Allocation, map[types.NamespacedName]machine.Resources) {
	var strays placement.Allocation
	sizes := map[types.NamespacedName]machine.Resources{}
	for _, one := range l.machines {
		if its, ok := owners[types.UID(one.UID)]; ok && its.host == host {
			sizes[its.key] = one.Resources
		} else {
			strays = strays.Plus(placement.Allocation{Resources: one.Resources, Machines: 1})
		}
	}
	return strays, sizes
}

// listMachines lists the machines of the hosts, of all at the same time.
func (r *Reconciler) listMachines(ctx context.Context, hosts []string) []machineList {
	out := make([]machineList, len(hosts))
	var group sync.WaitGroup
	for i, host := range hosts {
		driver, ok := r.fleet.Driver(host)
		if !ok {
			continue
		}
		group.Go(func() { out[i].machines, out[i].err = driver.List(ctx, r.installation) })
	}
	group.Wait()
	return out
}

// owner is the VirtualMachine that has a machine, and the host that is recorded.
type owner struct {
	key  types.NamespacedName
	host string
}

// owners returns all VirtualMachines, by the UIDs under which hosts know their machines.
func (r *Reconciler) owners(ctx context.Context) (map[types.UID]owner, error) {
	var list cloudnativev1alpha1.VirtualMachineList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list VirtualMachines: %w", err)
	}
	out := make(map[types.UID]owner, len(list.Items))
	for i := range list.Items {
		vm := &list.Items[i]
		out[kube.MachineUIDOf(vm)] = owner{client.ObjectKeyFromObject(vm), kube.PlacementOf(vm).Host}
	}
	return out, nil
}

// due returns the hosts that are up and have to be surveyed.
func (s *surveys) due(hosts []fleet.HostState, now time.Time, outdated bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, state := range hosts {
		if !state.Health.Probed || state.Health.Err != nil {
			continue
		}
		last, known := s.byHost[state.Host.Name]
		if !known || (outdated || last.err != nil) && now.Sub(last.at) >= surveyAgain {
			out = append(out, state.Host.Name)
		}
	}
	return out
}

// set keeps a survey, and reports whether it is the first one that the host could answer.
func (s *surveys) set(host string, found survey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byHost == nil {
		s.byHost = map[string]survey{}
	}
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
		switch {
		case host.Problem != "":
		case !known:
			host.Problem = "it has not listed its machines yet"
		case last.err != nil:
			host.Problem = fmt.Sprintf("it cannot list its machines: %v", last.err)
		default:
			host.Allocated = host.Allocated.Plus(last.strays)
		}
	}
	return hosts
}
