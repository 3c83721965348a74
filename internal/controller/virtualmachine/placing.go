// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/placement"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
)

// recheckPlace is how often a machine without a host looks for one; usually it is woken up.
const recheckPlace = 30 * time.Second

// location is where a machine is.
type location struct{ driver, host string }

// String is the value of the annotation.
func (p location) String() string { return p.driver + "/" + p.host }

// locationOf returns where the machine is: what the annotation says, and where somebody has removed that, the status. Zero if
// nothing was recorded, hence nothing made.
func locationOf(vm *cloudnativev1alpha1.VirtualMachine) location {
	driver, host, ok := strings.Cut(vm.Annotations[cloudnativev1alpha1.PlacementAnnotation], "/")
	if ok && driver != "" && host != "" {
		return location{driver: driver, host: host}
	}
	if server := vm.Status.Server; server != nil && server.Host != "" {
		return location{driver: string(server.Driver), host: server.Host}
	}
	return location{}
}

// place is the phase that records where the machine is, together with the finalizer: in one patch, and before the first call
// of a driver that makes anything. Whatever dies afterwards, no second host is ever chosen.
func (r *Reconciler) place(ctx context.Context, pass *scope) flow.Outcome {
	vm, key := pass.vm, client.ObjectKeyFromObject(pass.vm)
	at := locationOf(vm)
	recorded := at.host != "" && vm.Annotations[cloudnativev1alpha1.PlacementAnnotation] == at.String() &&
		slices.Contains(vm.Finalizers, cloudnativev1alpha1.Finalizer)
	if recorded || status.IsPaused(vm) {
		if at.host != "" {
			r.ledger.set(key, at, resourcesOf(vm.Spec.Resource, at.driver))
		}
		return flow.Done()
	}
	if at.host == "" {
		var problem *flow.Outcome
		if at, problem = r.choose(ctx, pass); problem != nil {
			pass.seen.observed, pass.seen.hostProblem = true, problem
			return *problem
		}
	}
	before := vm.DeepCopy()
	if !slices.Contains(vm.Finalizers, cloudnativev1alpha1.Finalizer) {
		vm.Finalizers = append(vm.Finalizers, cloudnativev1alpha1.Finalizer)
	}
	if vm.Annotations == nil {
		vm.Annotations = map[string]string{}
	}
	vm.Annotations[cloudnativev1alpha1.PlacementAnnotation] = at.String()
	if err := r.client.Patch(ctx, vm, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), patch.FieldOwner); err != nil {
		r.ledger.drop(key)
		return flow.Fail(fmt.Errorf("cannot record the host %q: %w", at.host, err))
	}
	pass.before = vm.DeepCopy()
	return flow.Done()
}

// choose finds the host for a machine that has none.
func (r *Reconciler) choose(ctx context.Context, pass *scope) (location, *flow.Outcome) {
	vm := pass.vm
	if slices.Contains(vm.Finalizers, cloudnativev1alpha1.Finalizer) {
		if at, problem := r.recall(ctx, vm); at.host != "" || problem != nil {
			return at, problem
		}
	}
	driver := cmp.Or(string(vm.Spec.Driver), r.defaultDriver)
	need := resourcesOf(vm.Spec.Resource, driver)
	host, err := r.ledger.choose(ctx, r, client.ObjectKeyFromObject(vm), need, driver, vm.Spec.Host)
	switch {
	case err == nil:
		return location{driver: driver, host: host}, nil
	case errors.Is(err, machine.ErrNoHost):
		return location{}, new(flow.Stall(cloudnativev1alpha1.ReasonHostNotConfigured, err))
	case errors.Is(err, machine.ErrNoCapacity):
		return location{}, new(flow.Wait(cloudnativev1alpha1.ReasonNoCapacity, "a host with room: "+err.Error(), recheckPlace))
	case errors.Is(err, machine.ErrUnreachable):
		pass.silent = !r.asked()
		return location{}, new(flow.Wait(cloudnativev1alpha1.ReasonDriverUnreachable, "a host to answer: "+err.Error(), recheckPlace))
	default:
		return location{}, new(flow.Fail(err))
	}
}

// asked reports whether all hosts have been asked how they are: before, none of them is known to be down.
func (r *Reconciler) asked() bool {
	return !slices.ContainsFunc(r.fleet.Hosts(), func(s fleet.HostState) bool { return !s.Health.Probed })
}

// recall looks on all hosts for a machine whose record somebody has removed: an object that has our finalizer may have one. It is
// about objects that were handled by hand, or came with the finalizer.
func (r *Reconciler) recall(ctx context.Context, vm *cloudnativev1alpha1.VirtualMachine) (location, *flow.Outcome) {
	for _, state := range r.fleet.Hosts() {
		driver, ok := r.fleet.Driver(state.Host.Name)
		if !ok {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, lookTimeout)
		_, err := driver.Get(limited, identity(vm, r.installation))
		cancel()
		switch {
		case err == nil:
			return location{driver: state.Host.Driver, host: state.Host.Name}, nil
		case errors.Is(err, machine.ErrNotFound):
		case len(vm.Status.Conditions) > 0 || !state.Health.Probed:
			// It was here before, and may be where nobody can look now.
			return location{}, new(flow.Wait(cloudnativev1alpha1.ReasonDriverUnreachable, fmt.Sprintf(
				"host %q to say whether the machine is there: %v", state.Host.Name, err), recheckPlace))
		}
	}
	return location{}, nil
}

// ledger knows what has been given away of every host. It is made from the objects, and kept while the manager runs because the
// cache learns of a placement only some time after it was decided.
type ledger struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]share
}

// share is what one machine has of a host.
type share struct {
	at   location
	size machine.Resources
}

func (l *ledger) set(key types.NamespacedName, at location, size machine.Resources) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byKey != nil {
		l.byKey[key] = share{at, size}
	}
}

func (l *ledger) drop(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byKey, key)
}

// choose places a machine and notes it. Hosts that are not limited are overcommitted once no host has room, as long as the machine
// alone fits there.
func (l *ledger) choose(
	ctx context.Context, r *Reconciler, key types.NamespacedName, need machine.Resources, driver, wanted string,
) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(ctx, r.client); err != nil {
		return "", err
	}
	taken := map[string]placement.Allocation{}
	for _, s := range l.byKey {
		host := taken[s.at.host]
		host.Machines++
		host.Resources.MilliCPU += s.size.MilliCPU
		host.Resources.MemoryBytes += s.size.MemoryBytes
		host.Resources.RootDiskBytes += s.size.RootDiskBytes
		taken[s.at.host] = host
	}
	rooms := r.fleet.Candidates(taken)
	host, err := placement.Choose(rooms, need, driver, wanted)
	if errors.Is(err, machine.ErrNoCapacity) {
		for i := range rooms {
			if !r.limited[rooms[i].Name] {
				rooms[i].Allocated.Resources = machine.Resources{}
			}
		}
		host, err = placement.Choose(rooms, need, driver, wanted)
	}
	if err == nil {
		l.byKey[key] = share{location{driver: driver, host: host}, need}
	}
	return host, err
}

// load reads all objects once.
func (l *ledger) load(ctx context.Context, reader client.Reader) error {
	if l.byKey != nil {
		return nil
	}
	var list cloudnativev1alpha1.VirtualMachineList
	if err := reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list VirtualMachines: %w", err)
	}
	l.byKey = make(map[types.NamespacedName]share, len(list.Items))
	for i := range list.Items {
		vm := &list.Items[i]
		if at := locationOf(vm); at.host != "" {
			l.byKey[client.ObjectKeyFromObject(vm)] = share{at, resourcesOf(vm.Spec.Resource, at.driver)}
		}
	}
	return nil
}
