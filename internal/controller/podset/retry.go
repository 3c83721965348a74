// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
)

// An API server compiles its admission policies once a second. A try right after a change of the pool may still be refused by the policy of before,
// and nothing shows that: the failure stays as it is. So there is a second try.
const (
	secondTryAfter = 2 * time.Second
	secondTry      = "/2"
)

// planRetry asks for pods at once when the pool that they were refused for is there, and once more a moment later. The ReplicaSet controller tries
// again after as long as it has waited already, which grows to 17 minutes; a change of the ReplicaSet has it try now, and annotations of the Deployment
// become its own. The value says which failure it was, so that each is answered twice at most. The first try changes what Ready says, so Ready only
// matters before it.
func planRetry(podSet *appsv1alpha1.PodSet, seen observation) decision {
	own := ownDeployment(podSet, seen.deployment)
	if seen.pool == nil || own == nil {
		return decision{}
	}
	failure := find(own, appsv1alpha1.ConditionReplicaFailure)
	if failure == nil || failure.Status != corev1.ConditionTrue {
		return decision{}
	}
	if cause := explain(podSet, seen); cause != nil && cause.Refusal {
		return decision{}
	}
	since := failure.LastTransitionTime.UTC().Format(time.RFC3339)
	switch rest := secondTryAfter - seen.sinceRetry; own.Annotations[appsv1alpha1.RetriedAnnotation] {
	case since + secondTry:
		return decision{}
	case since:
		if rest > 0 {
			return decision{again: rest}
		}
		return decision{actions: []action{{verb: retry, live: own, answers: since + secondTry}}}
	}
	ready := apimeta.FindStatusCondition(podSet.Status.Conditions, status.Ready)
	if ready == nil || !refusedByPool(ready.Reason) {
		return decision{}
	}
	return decision{actions: []action{{verb: retry, live: own, answers: since}}, again: secondTryAfter}
}

// refusedByPool reports whether a reason of a PodSet says that its pods are refused until the pool is there and may be used.
func refusedByPool(reason string) bool {
	return slices.Contains([]string{
		appsv1alpha1.ReasonPoolNotFound, appsv1alpha1.ReasonPoolDeleting, appsv1alpha1.ReasonPoolNotAllowed,
		appsv1alpha1.ReasonPoolRuntimeClassNotReady, appsv1alpha1.ReasonPoolPaused,
	}, reason)
}

// sinceRetry returns how long ago the ReplicaSet was made to try again. For a try of the process before, the time begins now.
func (r *Reconciler) sinceRetry(key client.ObjectKey, own *appsv1.Deployment, now time.Time) time.Duration {
	if own.Annotations[appsv1alpha1.RetriedAnnotation] == "" {
		return 0
	}
	last := r.retried.Last(key)
	if last.IsZero() || last.After(now) { // The last, where the clock was set back.
		r.retried.Set(key, now)
		return 0
	}
	return now.Sub(last)
}

// retry notes on the Deployment which failure to create pods is over. The pass goes on with what the API server has then: the status would otherwise
// be about the Deployment before.
func (r *Reconciler) retry(ctx context.Context, a action) error {
	body := fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:%q}}}`, a.live.GetUID(), appsv1alpha1.RetriedAnnotation, a.answers)
	r.retried.Set(client.ObjectKeyFromObject(a.live), r.now()) // also if the answer is lost
	return client.IgnoreNotFound(r.client.Patch(ctx, a.live, client.RawPatch(types.MergePatchType, []byte(body)), patch.FieldOwner))
}
