// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
)

// untilRead is how long a pass waits for the pods of a namespace to be read for the first time.
const untilRead = 250 * time.Millisecond

// observation is what a pass observed, apart from the tool itself.
type observation struct {
	// pods are the live pods of the namespace, in the order in which they get tools: the oldest first.
	pods []*corev1.Pod
	// others are the namespace's other tools.
	others []*appsv1alpha1.PodBuggerTool
}

// observe is the phase that reads. Everything comes from caches.
func (r *Reconciler) observe(ctx context.Context, pass *scope) flow.Outcome {
	namespace := pass.Object.Namespace
	pods, err := r.pods.Pods(ctx, namespace)
	switch {
	case errors.Is(err, errNotRead):
		// The status need not say so: after a restart, nothing has changed.
		pass.Silence()
		return flow.Wait(appsv1alpha1.ReasonWaitingForPods, "the pods of the namespace to be read", untilRead)
	case err != nil:
		return flow.Fail(fmt.Errorf("cannot list the pods of namespace %q: %w", namespace, err))
	}
	var tools appsv1alpha1.PodBuggerToolList
	if err := r.client.List(ctx, &tools, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return flow.Fail(fmt.Errorf("cannot list the tools of namespace %q: %w", namespace, err))
	}

	seen := &observation{pods: slices.DeleteFunc(r.memory.complete(namespace, pods), func(pod *corev1.Pod) bool { return !live(pod) })}
	oldestFirst(seen.pods)
	for i := range tools.Items {
		if tools.Items[i].UID != pass.Object.UID {
			seen.others = append(seen.others, &tools.Items[i])
		}
	}
	pass.seen = seen
	return flow.Done()
}

// live reports whether a pod is one that a tool may reach, now or later: neither on its way out nor at its end.
func live(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp.IsZero() &&
		pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}
