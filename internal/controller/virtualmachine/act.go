// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
)

// claim is the phase that chooses a host for a machine that has none, and claims its share there.
func (r *Reconciler) claim(ctx context.Context, pass *scope) flow.Outcome {
	vm, key, at := pass.Object, client.ObjectKeyFromObject(pass.Object), pass.seen.at
	moves := pass.seen.tentative && (r.down(at.Host) || !r.claims.has(key, at))
	switch {
	case at.Host != "" && recordedRoom(vm) && !moves:
		r.claims.keep(key, claim{at, resourcesOf(vm.Spec.Resource, at.Driver)}, wasMade(vm))
		return flow.Done()
	case status.IsPaused(vm):
		return flow.Done()
	case at.Host != "" && !moves:
		// It gave up its room, and will ask for it again.
		if err := r.readClaims(ctx); err != nil {
			return flow.Fail(err)
		}
		return flow.Done()
	}
	made, err := r.reserve(ctx, key, wish(vm, r.defaultDriver))
	if moves && hasNoPlace(err) {
		return flow.Done() // It stays where it is until another host can take it.
	}
	if err != nil {
		problem := notPlaced(err)
		if errors.Is(err, machine.ErrUnreachable) && !allProbed(r.fleet.Hosts()) {
			pass.Silence()
		}
		pass.seen.observed, pass.seen.unplaced, pass.seen.hostProblem = true, !moves, &problem
		return problem
	}
	pass.seen.at, pass.seen.tentative = made.at, true
	return flow.Done()
}

// down reports whether the host was asked and does not answer.
func (r *Reconciler) down(host string) bool {
	health := r.fleet.Health(host)
	return health.Probed && health.Err != nil
}

// hold is the phase that adds the finalizer, before any driver is called to make something.
func (r *Reconciler) hold(ctx context.Context, pass *scope) flow.Outcome {
	if status.IsPaused(pass.Object) {
		return flow.Done()
	}
	wrote, err := patch.AddFinalizer(ctx, r.client, pass.Object, cloudnativev1alpha1.Finalizer)
	if err != nil {
		return flow.Fail(fmt.Errorf("cannot hold the object: %w", err))
	}
	if wrote {
		pass.Rebase()
	}
	return flow.Done()
}

// operate is the phase that starts the next operation, or cancels the one that is no longer wanted. Nothing is started before the
// host is recorded for good: the status of the pass that wants the first operation is the record, and the next pass starts it.
// Whatever crashes in between, no second host is ever chosen once something may be on the first.
func (r *Reconciler) operate(ctx context.Context, pass *scope) flow.Outcome {
	decided := &pass.decision
	if status.IsPaused(pass.Object) && pass.Object.DeletionTimestamp == nil {
		if decided.next == nil {
			return decided.outcome
		}
		decided.next, decided.phase = nil, pass.Object.Status.Phase
		return flow.Wait(status.ReasonPaused, "the annotation "+status.PausedAnnotation+" to be removed", 0)
	}
	key := client.ObjectKeyFromObject(pass.Object)
	if decided.cancel {
		r.operations.Cancel(key)
	}
	if decided.next == nil {
		if !pass.seen.op.Running() && !holdsRoom(pass.seen.found != nil, decided.failure, strategyOf(pass.Object)) {
			r.claims.drop(key)
		}
		return decided.outcome
	}
	if wanted := (claim{pass.seen.at, decided.next.Spec.Resources}); decided.next.Has(operation.Create) && !r.claims.covers(key, wanted) {
		// The machine gave up its room when it could not be created, has become larger, or was placed by another instance.
		if _, err := r.reserve(ctx, key, wanted); err != nil {
			pass.decision = withoutRoom(pass.Object, pass.decision, err, pass.Now)
			return pass.decision.outcome
		}
	}
	if firm := kube.PlacementOf(pass.Before) == pass.seen.at && !kube.IsTentative(pass.Before); !firm && pass.Object.DeletionTimestamp == nil {
		pass.LookAgain(time.Millisecond)
		return decided.outcome
	}
	driver, ok := r.fleet.Driver(pass.seen.at.Host)
	if !ok || !r.operations.Start(ctx, key, driver, *decided.next) {
		// An operation for an earlier object of that name is still running; its end wakes this object. Or the manager is stopping.
		decided.next = nil
	}
	return decided.outcome
}

// release is the phase that lets the object go.
func (r *Reconciler) release(ctx context.Context, pass *scope) flow.Outcome {
	if !pass.decision.release {
		return flow.Done()
	}
	if pass.decision.retain {
		// The list comes first: a sweep that finds no object must find the machine there.
		err := r.retained.Add(ctx, pass.Object, pass.seen.at)
		if errors.Is(err, kube.ErrTooManyRetained) {
			return flow.Wait(cloudnativev1alpha1.ReasonRetainedLimit, "room among the retained machines: "+err.Error()+r.unswept(pass.Object.Namespace), recheckPlace)
		}
		if err != nil {
			return flow.Fail(fmt.Errorf("cannot record that the machine stays: %w", err))
		}
	}
	if _, err := patch.RemoveFinalizers(ctx, r.client, pass.Object, cloudnativev1alpha1.Finalizer); err != nil {
		return flow.Fail(err)
	}
	if !pass.decision.retain {
		r.claims.drop(client.ObjectKeyFromObject(pass.Object))
	}
	pass.Release()
	return flow.Done()
}

// unswept says which hosts do not answer, because of which nothing leaves the list of retained machines. Empty if all answer. Hosts that the namespace
// cannot use are not named.
func (r *Reconciler) unswept(namespace string) string {
	var silent []string
	others := 0
	for _, state := range r.fleet.Hosts() {
		switch host := state.Host; {
		case !r.down(host.Name):
		case len(host.Namespaces) > 0 && !slices.Contains(host.Namespaces, namespace):
			others++
		default:
			silent = append(silent, strconv.Quote(host.Name))
		}
	}
	slices.Sort(silent)
	if others > 0 {
		silent = append(silent, fmt.Sprintf("%d of other namespaces", others))
	}
	if len(silent) == 0 {
		return ""
	}
	return fmt.Sprintf(". Hosts that do not answer: %s. Repair them, or remove those that are gone from the hosts file", strings.Join(silent, ", "))
}
