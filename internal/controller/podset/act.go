// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
)

// act is the phase that writes.
func (r *Reconciler) act(ctx context.Context, pass *scope) flow.Outcome {
	key := client.ObjectKeyFromObject(pass.Object)
	if pass.decision.changes() {
		// A process that has just started may know the PodSet as it was. What it would take back is pods that run.
		there, err := r.Confirm(ctx, pass.Object)
		if err != nil {
			return flow.Fail(err)
		}
		if !there {
			pass.Silence()
			return flow.Wait(appsv1alpha1.ReasonDeploymentPending, "the present PodSet to be read", flow.RecheckBehind)
		}
	}
	tried := pass.attempt()
	for _, a := range pass.decision.actions {
		if err := r.refused.recall(key, tried, r.now()); err != nil {
			return flow.Refused(appsv1alpha1.ReasonChildRefused, err)
		}
		if err := r.perform(ctx, a); err != nil {
			outcome := flow.Refused(appsv1alpha1.ReasonChildRefused, err)
			if outcome.IsStalled() {
				r.refused.keep(key, tried, err, r.now())
			}
			return outcome
		}
		switch {
		case a.repairs && !a.changed():
			r.futile.note(key, a.live)
		case a.event != nil:
			pass.Did(*a.event)
		}
		if err := pass.learn(a); err != nil {
			return flow.Fail(err)
		}
	}
	r.refused.forget(key)
	return pass.decision.outcome
}

// perform does one action. Errors are passed on as they are: the status quotes the API server.
func (r *Reconciler) perform(ctx context.Context, a action) error {
	switch a.verb {
	case create:
		return patch.Create(ctx, r.client, a.child)
	case retry:
		return r.retry(ctx, a)
	case apply:
		if err := r.clear(ctx, a); err != nil {
			return err
		}
		return patch.Apply(ctx, r.client, a.child)
	case remove:
		uid := a.live.GetUID()
		err := r.client.Delete(ctx, a.live, client.Preconditions{UID: &uid})
		return client.IgnoreNotFound(err)
	}
	return nil
}

// clear takes away the field that stands in the way of an apply.
func (r *Reconciler) clear(ctx context.Context, a action) error {
	if a.clear == "" {
		return nil
	}
	target, ok := a.live.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("cannot copy %T: no client.Object", a.live)
	}
	body := fmt.Sprintf(`{"metadata":{"uid":%q},"spec":{%s}}`, a.live.GetUID(), a.clear)
	return r.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, []byte(body)), patch.FieldOwner)
}

// changed reports whether the write has changed the object that was observed.
func (a action) changed() bool {
	var version *string
	switch child := a.child.(type) {
	case *appsv1ac.DeploymentApplyConfiguration:
		version = child.ResourceVersion
	case *policyv1ac.PodDisruptionBudgetApplyConfiguration:
		version = child.ResourceVersion
	}
	return a.live == nil || version == nil || *version != a.live.GetResourceVersion()
}

// learn takes over the Deployment as the API server has it after the write: the status would otherwise describe the one
// before, and call a rollout complete that has just begun.
func (s *scope) learn(a action) error {
	written, ok := a.child.(*appsv1ac.DeploymentApplyConfiguration)
	if !ok {
		return nil
	}
	raw, err := json.Marshal(written)
	if err != nil {
		return fmt.Errorf("cannot read the written Deployment: %w", err)
	}
	var deployment appsv1.Deployment
	if err := json.Unmarshal(raw, &deployment); err != nil {
		return fmt.Errorf("cannot read the written Deployment: %w", err)
	}
	s.seen.deployment = &deployment
	return nil
}
