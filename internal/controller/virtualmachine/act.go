// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
)

// act is the phase that starts the next operation, or ends the one that is no longer wanted.
func (r *Reconciler) act(ctx context.Context, pass *scope) flow.Outcome {
	decided := &pass.decision
	if status.IsPaused(pass.vm) && pass.vm.DeletionTimestamp == nil {
		if decided.next == nil {
			return decided.outcome
		}
		decided.next, decided.phase = nil, pass.vm.Status.Phase
		return flow.Wait(status.ReasonPaused, "the annotation "+status.PausedAnnotation+" to be removed", 0)
	}
	key := client.ObjectKeyFromObject(pass.vm)
	if decided.cancel {
		r.operations.cancel(key)
	}
	if decided.next == nil {
		return decided.outcome
	}
	driver, ok := r.fleet.Driver(pass.seen.at.host)
	if !ok || !r.operations.start(ctx, key, driver, *decided.next) {
		// An operation for an earlier object of that name has not ended; its end wakes this one up. Or the manager ends.
		decided.next = nil
	}
	return decided.outcome
}
