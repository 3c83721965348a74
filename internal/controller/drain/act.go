// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"
	"slices"

	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/status"
)

// maxRefusal is how much of an answer is kept, in bytes.
const maxRefusal = 512

// act evicts the pods of a step and reports how far the drain has come. An eviction that is refused is asked for again in a later pass,
// and keeps no other pod from being evicted. An API server that is away has not been asked: the pods of a drain that is overdue wait for its answer.
func (r *Reconciler) act(ctx context.Context, next step) error {
	evicted := 0
	refusals := map[string]string{}
	for _, pod := range next.evict {
		err := r.evict(ctx, pod)
		countEviction(next.pool.Name, err)
		switch {
		case err == nil:
			evicted++
		case gone(err):
		case ctx.Err() != nil, kube.IsUnreachable(err):
			r.tell(next, evicted)
			return fmt.Errorf("cannot evict pod %q: %w", podName(pod), err)
		default:
			next.progress.Blocked = append(next.progress.Blocked, podName(pod))
			refusals[podName(pod)] = err.Error()
		}
		if _, known := next.asked[pod.UID]; known {
			next.asked[pod.UID] = true
		}
	}
	if slices.Sort(next.progress.Blocked); len(next.progress.Blocked) > 0 {
		next.progress.Refusal = status.Clip(refusals[next.progress.Blocked[0]], maxRefusal)
	} else if len(next.blocked) > 0 {
		next.progress.Blocked, next.progress.Refusal = next.blocked, next.entry.Refusal
	}
	r.tell(next, evicted)
	r.drains.Report(next.key(), next.progress)
	return nil
}

// tell records how many pods a pass has evicted.
func (r *Reconciler) tell(next step, evicted int) {
	if evicted > 0 {
		r.recorder.Record(podsEvicted(next.pool, next.entry.Node, evicted))
	}
}
