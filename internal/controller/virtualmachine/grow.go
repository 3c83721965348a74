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
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/placement"
	"github.com/windlass-operator/windlass/internal/status"
)

// fit is the phase that compares the size of an existing machine with the capacity of its host. A machine that is to become larger than its
// host has room for keeps its size, and claims no more than that.
func (r *Reconciler) fit(ctx context.Context, pass *scope) flow.Outcome {
	seen, key := &pass.seen, client.ObjectKeyFromObject(pass.Object)
	if seen.found == nil || seen.hostProblem != nil || seen.op.Running() || status.IsPaused(pass.Object) {
		return flow.Done()
	}
	have, want := seen.found.Resources, seen.spec.Resources
	if sameSize(have, want) {
		r.claims.set(key, claim{seen.at, larger(have, want)})
		return flow.Done()
	}
	err := r.grow(ctx, key, claim{seen.at, want}, have)
	if !errors.Is(err, machine.ErrNoCapacity) {
		return flow.Fail(err)
	}
	seen.tooLarge = &refusal{
		reason:  cloudnativev1alpha1.ReasonCapacityExceeded,
		message: fmt.Sprintf("the machine has %s; the spec asks for %s: %v", sizeText(have), sizeText(want), err),
	}
	seen.spec.Resources = have
	return flow.Done()
}

// grow claims the size that an existing machine wants, or refuses it and claims the size that the machine has. If there is no room, it
// surveys the host again: machines without objects may be gone.
func (r *Reconciler) grow(ctx context.Context, key types.NamespacedName, wanted claim, have machine.Resources) error {
	if err := r.readClaims(ctx); err != nil {
		return err
	}
	if _, err := r.survey(ctx, false); err != nil {
		return err
	}
	err := r.resize(key, wanted, have)
	if !errors.Is(err, machine.ErrNoCapacity) {
		return err
	}
	if again, problem := r.survey(ctx, true); !again || problem != nil {
		return errors.Join(err, problem)
	}
	return r.resize(key, wanted, have)
}

// resize claims the larger of both sizes if there is room for it, because a machine that is to become smaller may wait for a restart.
// Otherwise it claims the size that the machine has. What only the host itself limits, its driver refuses or not: the machine claims what it gets.
func (r *Reconciler) resize(key types.NamespacedName, wanted claim, have machine.Resources) error {
	host := wanted.at.Host
	var refused error
	_, err := r.claims.choose(key, func(taken map[string]placement.Allocation) (claim, error) {
		size := larger(have, wanted.size)
		for _, candidate := range r.surveys.apply(r.fleet.Candidates(taken)) {
			if candidate.Name != host || r.overcommits[host] {
				continue
			}
			refused = candidate.Grow(have, wanted.size)
			if refused == nil && size != have && candidate.Problem != "" && candidate.Quota != (machine.Resources{}) {
				refused = fmt.Errorf("%w: host %q: %s", machine.ErrNoCapacity, host, candidate.Problem)
			}
			if refused != nil || !candidate.Holds(have, wanted.size) {
				size = have
			}
		}
		return claim{wanted.at, size}, nil
	})
	return errors.Join(refused, err)
}
