// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/placement"
)

// reserve chooses a host for a machine and claims room there. If it finds none, it surveys the hosts again: machines without objects
// may be gone.
func (r *Reconciler) reserve(ctx context.Context, key types.NamespacedName, wanted claim) (claim, error) {
	if problem := r.fleet.Problem(); problem != nil {
		return claim{}, problem
	}
	if err := r.readClaims(ctx); err != nil {
		return claim{}, err
	}
	if _, err := r.survey(ctx, false); err != nil {
		return claim{}, err
	}
	made, err := r.choose(key, wanted)
	if !errors.Is(err, machine.ErrNoCapacity) {
		return made, err
	}
	if again, problem := r.survey(ctx, true); !again || problem != nil {
		return claim{}, errors.Join(err, problem)
	}
	return r.choose(key, wanted)
}

// choose chooses a host in view of all claims and surveys.
func (r *Reconciler) choose(key types.NamespacedName, wanted claim) (claim, error) {
	return r.claims.choose(key, func(taken map[string]placement.Allocation) (claim, error) {
		return place(key.Namespace, wanted, r.surveys.apply(r.fleet.Candidates(taken)), r.overcommits)
	})
}

// readClaims reads what the machines of all objects claim, once.
func (r *Reconciler) readClaims(ctx context.Context) error {
	if r.claims.loaded() {
		return nil
	}
	var list cloudnativev1alpha1.VirtualMachineList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list VirtualMachines: %w", err)
	}
	r.claims.load(claimsOf(list.Items))
	return nil
}

// claimsOf returns what the machines of the objects claim. One that was not made yet claims nothing: what its spec asks for by now may never have been
// compared with the room of its host.
func claimsOf(objects []cloudnativev1alpha1.VirtualMachine) map[types.NamespacedName]claim {
	out := make(map[types.NamespacedName]claim, len(objects))
	for i := range objects {
		vm := &objects[i]
		if at := kube.PlacementOf(vm); at.Host != "" && wasMade(vm) {
			out[client.ObjectKeyFromObject(vm)] = claim{at, resourcesOf(vm.Spec.Resource, at.Driver)}
		}
	}
	return out
}
