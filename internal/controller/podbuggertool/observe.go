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
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/status"
)

// untilRead is how long a pass waits for the pods of a namespace to be read for the first time.
const untilRead = 250 * time.Millisecond

// observation is what a pass observed, apart from the tool itself.
type observation struct {
	sample

	// passedOver are the pods that have refused the tool, with what the API server answered: they leave their places to others.
	passedOver map[types.UID]error
	// others are the namespace's other tools, if the pass has a pod to write that they may match.
	others []other
}

// other is another tool of the namespace, with its pods and those that have refused it.
type other struct {
	tool       *appsv1alpha1.PodBuggerTool
	pods       []*corev1.Pod
	passedOver map[types.UID]error
}

// observe is the phase that reads. Everything comes from caches. A pass reads no more pods than the tool can have, and other tools only
// if it has something to write.
func (r *Reconciler) observe(ctx context.Context, pass *scope) flow.Outcome {
	namespace := pass.Object.Namespace
	asked, err := queryOf(pass.Object)
	if err != nil {
		pass.seen = &observation{} // plan refuses the selector
		return flow.Done()
	}
	asked.passedOver = r.memory.passedOver(client.ObjectKeyFromObject(pass.Object), asked.container, r.now())
	seen := &observation{passedOver: asked.passedOver}
	seen.sample, err = r.pods.read(ctx, client.ObjectKeyFromObject(pass.Object), asked)
	switch {
	case errors.Is(err, errNotRead):
		// The status need not say so: after a restart, nothing has changed.
		pass.Silence()
		return flow.Wait(appsv1alpha1.ReasonWaitingForPods, "the pods of the namespace to be read", untilRead)
	case err != nil && !kube.IsUnreachable(err):
		// The cache goes on to list them, and does not say when it could: a tool that backs off would rest for long after that.
		return flow.Wait(status.ReasonError, fmt.Sprintf("the pods of namespace %q to be listed: %v", namespace, err), flow.RecheckRights)
	case err != nil:
		return flow.Fail(fmt.Errorf("cannot list the pods of namespace %q: %w", namespace, err))
	}
	if lacking := lacking(asked, seen.pods); len(lacking) > 0 {
		// A process that has just started may know tools as they were, and nobody can take a container out of a pod again.
		if there, err := r.Confirm(ctx, pass.Object); err != nil {
			return flow.Fail(err)
		} else if !there {
			pass.Silence()
			return flow.Wait(appsv1alpha1.ReasonWaitingForPods, "the present tool to be read", flow.RecheckBehind)
		}
		if seen.others, err = r.othersFor(ctx, pass.Object, lacking); err != nil {
			return flow.Fail(err)
		}
	}
	pass.seen = seen
	return flow.Done()
}

// othersFor returns the other tools that match one of the pods.
func (r *Reconciler) othersFor(ctx context.Context, own *appsv1alpha1.PodBuggerTool, pods []*corev1.Pod) ([]other, error) {
	var tools appsv1alpha1.PodBuggerToolList
	if err := r.client.List(ctx, &tools, client.InNamespace(own.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list the tools of namespace %q: %w", own.Namespace, err)
	}
	var list []other
	for i := range tools.Items {
		tool := &tools.Items[i]
		asked, err := queryOf(tool)
		if err != nil || tool.UID == own.UID ||
			!slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return asked.selector.Matches(labels.Set(pod.Labels)) }) {
			continue
		}
		asked.passedOver = r.memory.passedOver(client.ObjectKeyFromObject(tool), asked.container, r.now())
		if there, err := r.Confirm(ctx, tool); err != nil {
			return nil, err
		} else if !there {
			continue
		}
		read, err := r.pods.read(ctx, client.ObjectKeyFromObject(tool), asked)
		if err != nil {
			return nil, fmt.Errorf("cannot list the pods of namespace %q: %w", own.Namespace, err)
		}
		list = append(list, other{tool: tool, pods: read.pods, passedOver: asked.passedOver})
	}
	return list, nil
}
