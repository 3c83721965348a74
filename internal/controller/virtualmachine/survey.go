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

// surveys knows what the hosts have beyond the machines of objects: machines that were retained, and those whose objects lost their
// finalizer. They take room as all others do.
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
	// strays is the sum of the machines without objects.
	strays placement.Allocation
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
	objects, err := r.objects(ctx)
	if err != nil {
		return false, err
	}
	for i, host := range due {
		found := survey{at: r.now(), err: lists[i].err}
		for _, one := range lists[i].machines {
			if !objects[types.UID(one.UID)] {
				found.strays = found.strays.Plus(placement.Allocation{Resources: one.Resources, Machines: 1})
			}
		}
		r.surveys.set(host, found)
		if found.err == nil {
			r.claims.surveyed(host, before)
		}
	}
	return true, ctx.Err()
}

// machineList is what a host answers.
type machineList struct {
	machines []machine.Observed
	err      error
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

// objects returns the UIDs under which hosts know the machines of all VirtualMachines.
func (r *Reconciler) objects(ctx context.Context) (map[types.UID]bool, error) {
	var list cloudnativev1alpha1.VirtualMachineList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list VirtualMachines: %w", err)
	}
	out := make(map[types.UID]bool, len(list.Items))
	for i := range list.Items {
		out[kube.MachineUIDOf(&list.Items[i])] = true
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

func (s *surveys) set(host string, found survey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byHost == nil {
		s.byHost = map[string]survey{}
	}
	s.byHost[host] = found
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
