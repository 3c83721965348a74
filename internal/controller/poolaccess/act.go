// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
)

// policyRetry is when to look again for a policy that the cache has and the API server has not.
const policyRetry = time.Second

// maxNote bounds the annotation with a refusal, in bytes.
const maxNote = 1024

// remove deletes objects that should not exist. The UID makes sure that they are the observed ones.
func (r *Reconciler) remove(ctx context.Context, s *scope) flow.Outcome {
	for _, live := range s.plan.remove {
		uid := live.GetUID()
		err := r.client.Delete(ctx, live, client.Preconditions{UID: &uid})
		if client.IgnoreNotFound(err) != nil {
			return flow.Fail(fmt.Errorf("cannot delete %T %q: %w", live, live.GetName(), err))
		}
	}
	return flow.Done()
}

// write creates and updates objects until the API server refuses one. The objects that keep other namespaces out come first, so pods
// cannot choose a pool that is not guarded.
func (r *Reconciler) write(ctx context.Context, s *scope) flow.Outcome {
	for _, o := range s.plan.write {
		var err error
		if o.live == nil {
			err = patch.Create(ctx, r.client, o.wanted.Config)
		} else {
			err = r.update(ctx, o)
		}
		switch {
		case lacksPolicy(err):
			return waitForPolicy(policyRetry)
		case err != nil:
			return flow.Refused(nodesv1.ReasonAdmissionRefused, fmt.Errorf("cannot write %s %q: %w", o.Kind, o.Name, err))
		}
	}
	if s.plan.waits {
		return waitForPolicy(0) // its event brings the key back
	}
	return flow.Done()
}

// update applies an object. What somebody else has added to its spec goes first.
func (r *Reconciler) update(ctx context.Context, o object) error {
	reset, err := o.wanted.Reset(o.live)
	if err != nil {
		return err
	}
	if reset != nil {
		if err := r.client.Patch(ctx, o.Live(), client.RawPatch(types.JSONPatchType, reset), patch.FieldOwner); err != nil {
			return err
		}
	}
	return patch.Apply(ctx, r.client, o.wanted.Update(o.live.GetUID()))
}

func waitForPolicy(after time.Duration) flow.Outcome {
	policy := admission.ChooseRef()
	return flow.Wait(nodesv1.ReasonAdmissionPending, fmt.Sprintf("%s %s", policy.Kind, policy.Name), after)
}

// lacksPolicy reports whether the API server refused a binding because it has no policy of that name. It compares the rights of the
// writer with the parameters of the policy, and cannot do so without it. The policy is in the cache, so it was deleted just now: no
// fault of the binding, and its event may already be behind us. The API server has no reason code for it, only its words.
func lacksPolicy(err error) bool {
	cause, found := apierrors.StatusCause(err, metav1.CauseTypeForbidden)
	return found && cause.Field == "spec.paramRef" && strings.Contains(cause.Message, "unable to get policy")
}

// note records on the pools what the API server refused, and clears the record after a pass without a refusal.
func (r *Reconciler) note(ctx context.Context, s *scope, outcome flow.Outcome) error {
	text := ""
	switch {
	case outcome.Reason() == nodesv1.ReasonAdmissionRefused:
		text = status.Clip(outcome.Message(), maxNote)
	case !outcome.IsDone():
		return nil
	}
	key := nodesv1.BindingsRefusedAnnotation
	if s.name == sharedKey {
		key = nodesv1.PoliciesRefusedAnnotation
	}
	var errs []error
	for _, pool := range s.plan.creators {
		errs = append(errs, r.annotate(ctx, pool, key, text))
	}
	return errors.Join(errs...)
}

// annotate sets the annotation of the pool, or removes it if the text is empty. The patch carries the UID but not the resourceVersion: it
// touches nothing that anybody else writes.
func (r *Reconciler) annotate(ctx context.Context, pool *nodesv1.NodePool, key, text string) error {
	if pool.Annotations[key] == text {
		return nil
	}
	value := any(text)
	if text == "" {
		value = nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pool.UID, "annotations": map[string]any{key: value}}})
	if err != nil {
		return fmt.Errorf("cannot annotate pool %q: %w", pool.Name, err)
	}
	target := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: pool.Name}}
	err = r.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), patch.FieldOwner)
	if client.IgnoreNotFound(err) == nil {
		return nil
	}
	// A conflict too: whether it is a pool of the same name, or the API server asks for another try, the next pass finds out.
	return fmt.Errorf("cannot annotate pool %q: %w", pool.Name, err)
}
