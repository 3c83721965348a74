// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
)

// untilTaken is how long a place that a pod has refused waits for the pass that gives it to another one, and how long the pods wait that a pass has not
// come to.
const untilTaken = 20 * time.Millisecond

// maxLost is how long the writes of a pass that fail may take in all. There is one worker, and with each pod a webhook that hangs takes its timeout, which is
// 10 seconds by default.
const maxLost = 10 * time.Second

// subresource is where the API server takes ephemeral containers.
const subresource = "ephemeralcontainers"

// act is the phase that writes. A pod that refuses the tool does not keep it from the others, and neither does one whose write fails.
func (r *Reconciler) act(ctx context.Context, pass *scope) flow.Outcome {
	if status.IsPaused(pass.Object) && len(pass.decision.installs) > 0 {
		return flow.Wait(status.ReasonPaused, "the annotation "+status.PausedAnnotation+" to be removed", 0)
	}
	key := client.ObjectKeyFromObject(pass.Object)
	r.memory.keepOnly(key, pass.decision.matched)
	var failed, conflict error
	var lost time.Duration
	freed, steps := false, r.memory.inOrder(key, pass.decision.installs)
	for i, step := range steps {
		name := pass.decision.container
		if err := r.memory.refusal(key, step.pod.UID, name, r.now()); err != nil {
			pass.refused[step.pod.Name] = err
			continue
		}
		if r.memory.hasFailed(key, step.pod.UID) {
			step.entries = step.entries[:1] // a webhook may fail for the tools that are brought along
		}
		began := r.now()
		written, err := r.install(ctx, step)
		switch {
		case apierrors.IsNotFound(err):
			// The pod is gone: the watch reports it.
		case apierrors.IsConflict(err):
			// Another pod may have the name by now, or the API server asks for another try. The next pass finds out: the watch
			// reports only the one.
			conflict = err
		case err != nil && !isRefusal(err):
			err = fmt.Errorf("cannot install the tool in Pod %q: %w", step.pod.Name, err)
			failed = cmp.Or(failed, err)
			lost += r.now().Sub(began)
			if outcome := r.failing(ctx, key, steps[i:], lost, err); !outcome.IsDone() {
				return outcome
			}
		case err != nil:
			r.memory.refused(key, step.pod.UID, name, err, r.now())
			pass.refused[step.pod.Name] = err
			freed = true
		default:
			r.memory.succeeded(key, step.pod.UID)
			r.pods.wrote(step.pod, written.containers())
			step.pod.Spec.EphemeralContainers = append(step.pod.Spec.EphemeralContainers, written.containers()...)
			pass.Did(installed(written)...)
		}
	}
	if freed && len(pass.decision.leftOut)+pass.decision.beyond > 0 {
		pass.LookAgain(untilTaken)
	}
	return flow.Fail(cmp.Or(failed, conflict))
}

// failing remembers the write of the first of these steps, which has failed, and says how the pass ends by it. It is done if the pass goes on: a webhook that
// is down may be about this pod only. If it hangs, the pass ends, so that other tools get the worker, and pods that were not tried yet come first in the next.
func (r *Reconciler) failing(ctx context.Context, key client.ObjectKey, steps []install, lost time.Duration, err error) flow.Outcome {
	if kube.IsUnreachable(err) || ctx.Err() != nil {
		return flow.Fail(err)
	}
	r.memory.failed(key, steps[0].pod.UID, r.now())
	switch {
	case apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err):
		return flow.Fail(err) // the API server has too much to do
	case lost < maxLost:
		return flow.Done()
	case len(steps) > 1 && !r.memory.hasFailed(key, steps[1].pod.UID):
		return flow.Wait(appsv1alpha1.ReasonInstalling, "the tool to be installed in other pods: "+err.Error(), untilTaken)
	}
	return flow.Fail(err)
}

// install adds the containers to the pod and returns what it has added. Where the API server refuses what further tools
// bring along, the tool's own container goes alone: those tools learn of the refusal in their own pass.
func (r *Reconciler) install(ctx context.Context, step install) (install, error) {
	err := r.write(ctx, step.pod, step.containers())
	if len(step.entries) > 1 && isRefusal(err) {
		step.entries = step.entries[:1]
		err = r.write(ctx, step.pod, step.containers())
	}
	return step, err
}

// write sends one patch. A strategic merge adds to the list by name: it keeps all other entries, including those that others add at the
// same time, and is idempotent. The UID makes sure that it is the pod that was observed.
func (r *Reconciler) write(ctx context.Context, pod *corev1.Pod, containers []corev1.EphemeralContainer) error {
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"spec":     map[string]any{"ephemeralContainers": containers},
	})
	if err != nil {
		return fmt.Errorf("cannot encode containers: %w", err)
	}
	target := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	return r.direct.SubResource(subresource).Patch(ctx, target, client.RawPatch(types.StrategicMergePatchType, body), patch.FieldOwner)
}

// isRefusal reports whether the API server will answer the same until something else changes.
func isRefusal(err error) bool {
	return err != nil && flow.Refused(appsv1alpha1.ReasonToolRefused, err).IsStalled()
}
