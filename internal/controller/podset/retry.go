// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
)

// planRetry asks for pods at once when the pool that they were refused for is there. The ReplicaSet controller tries again after as long as it
// has waited already, which grows to 17 minutes; a change of the ReplicaSet has it try now, and annotations of the Deployment become its own.
// The value says which failure it was, so that each is answered once.
func planRetry(podSet *appsv1alpha1.PodSet, seen observation) []action {
	own := ownDeployment(podSet, seen.deployment)
	ready := apimeta.FindStatusCondition(podSet.Status.Conditions, status.Ready)
	if seen.pool == nil || own == nil || ready == nil || !refusedByPool(ready.Reason) {
		return nil
	}
	failure := find(own, appsv1alpha1.ConditionReplicaFailure)
	if failure == nil || failure.Status != corev1.ConditionTrue {
		return nil
	}
	if cause := explain(podSet, seen); cause != nil && cause.Refusal {
		return nil
	}
	since := failure.LastTransitionTime.UTC().Format(time.RFC3339)
	if own.Annotations[appsv1alpha1.RetriedAnnotation] == since {
		return nil
	}
	return []action{{verb: retry, live: own, since: since}}
}

// refusedByPool reports whether a reason of a PodSet says that its pods are refused until the pool is there and may be used.
func refusedByPool(reason string) bool {
	return slices.Contains([]string{
		appsv1alpha1.ReasonPoolNotFound, appsv1alpha1.ReasonPoolDeleting, appsv1alpha1.ReasonPoolNotAllowed,
		appsv1alpha1.ReasonPoolRuntimeClassNotReady, appsv1alpha1.ReasonPoolPaused,
	}, reason)
}

// retry notes on the Deployment which failure to create pods is over. The pass goes on with what the API server has then: the status would otherwise
// be about the Deployment before.
func (r *Reconciler) retry(ctx context.Context, a action) error {
	body := fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:%q}}}`, a.live.GetUID(), appsv1alpha1.RetriedAnnotation, a.since)
	return client.IgnoreNotFound(r.client.Patch(ctx, a.live, client.RawPatch(types.MergePatchType, []byte(body)), patch.FieldOwner))
}
