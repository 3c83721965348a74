// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
)

// access is what a pass saw of the policies and bindings by which pods choose the pool. Controller poolaccess writes them.
type access struct {
	admission.Review

	// observed is true once the rest is set.
	observed bool
	// invalid is why the selector of the allowed namespaces cannot be understood, nil for one that can.
	invalid error
}

// observeAccess reads the policies and bindings that concern the pool from the cache.
func (r *Reconciler) observeAccess(ctx context.Context, s *scope) flow.Outcome {
	support, err := admission.Supported(r.client.RESTMapper())
	if err != nil {
		return flow.Fail(err)
	}
	shared, err := admission.PolicyObjects(r.namespace)
	if err != nil {
		return flow.Fail(err)
	}
	own, err := admission.Bindings(s.Object, r.namespace)
	if err != nil {
		return flow.Fail(err)
	}
	review, err := admission.NewReview(s.Object, slices.Concat(shared, own), support, func(ref admission.Ref) (client.Object, error) {
		live := ref.Live()
		err := r.client.Get(ctx, client.ObjectKeyFromObject(live), live)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read %s %q: %w", ref.Kind, ref.Name, err)
		}
		return live, nil
	})
	if err != nil {
		return flow.Fail(err)
	}
	s.access = access{Review: review, observed: true, invalid: admission.CheckAllowed(s.Object)}
	return flow.Done()
}

// markAdmission says whether pods can choose the pool by other means than its RuntimeClass, and whether others are kept from it. What
// is missing is a reason not to be Ready only where the spec counts on it.
func markAdmission(marks *status.Marks, s *scope) {
	found := s.access
	if !found.observed {
		if s.Object.DeletionTimestamp != nil { // what it has to wait for must not be hidden by what goes with it
			marks.Unknown(nodesv1.ConditionAdmissionReady, status.ReasonNotObserved, "the policies and bindings of a pool that is being deleted go with it")
		}
		return
	}
	needed := len(found.NoEffect) > 0
	withoutEffect := "; no effect: " + strings.Join(found.NoEffect, ", ")
	stall := func(reason, message string) {
		marks.False(nodesv1.ConditionAdmissionReady, reason, message)
		if needed {
			marks.Stall(reason, message+withoutEffect)
		}
	}
	refused := cmp.Or(s.Object.Annotations[nodesv1.BindingsRefusedAnnotation], s.Object.Annotations[nodesv1.PoliciesRefusedAnnotation])
	switch {
	case found.invalid != nil:
		marks.False(nodesv1.ConditionAdmissionReady, nodesv1.ReasonInvalidSelector, found.invalid.Error())
		marks.Stall(nodesv1.ReasonInvalidSelector, found.invalid.Error())
	case len(found.Foreign) > 0:
		stall(nodesv1.ReasonNameConflict, inRefs(found.Foreign)+" exists and does not belong to Windlass: pods cannot choose this pool by label or default")
	case len(found.Pending) > 0 && s.Object.Spec.DryRun:
		marks.Unknown(nodesv1.ConditionAdmissionReady, nodesv1.ReasonDryRun, "a dry run writes no policies and bindings")
	case len(found.Pending) > 0 && refused != "":
		stall(nodesv1.ReasonAdmissionRefused, refused)
	case len(found.Pending) > 0 && status.IsPaused(s.Object):
		marks.Unknown(nodesv1.ConditionAdmissionReady, status.ReasonPaused, "no policies and bindings are written for a paused pool")
	case len(found.Pending) > 0:
		message := "waiting for " + inRefs(found.Pending)
		marks.False(nodesv1.ConditionAdmissionReady, nodesv1.ReasonAdmissionPending, message)
		if needed {
			marks.Work(nodesv1.ReasonAdmissionPending, message)
		}
	case len(found.Unsupported) > 0:
		stall(nodesv1.ReasonAdmissionUnsupported,
			fmt.Sprintf("the API server lacks %s: pods choose this pool by its RuntimeClass only", strings.Join(found.Unsupported, " and ")))
	default:
		marks.True(nodesv1.ConditionAdmissionReady, nodesv1.ReasonAdmissionReady, "")
	}
}

// inRefs names the objects.
func inRefs(refs []admission.Ref) string {
	names := make([]string, 0, len(refs))
	for _, ref := range refs {
		names = append(names, string(ref.Kind)+" "+ref.Name)
	}
	return strings.Join(names, ", ")
}
