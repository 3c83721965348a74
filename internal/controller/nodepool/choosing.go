// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
)

// choosing is how a pass found the policies by which pods choose the pool.
type choosing struct {
	// missing are the APIs that the API server lacks.
	missing []string
	// withoutEffect are the fields of the spec that have no effect for it.
	withoutEffect []string
	// foreign names an object of ours that is somebody else's, empty where there is none.
	foreign string
	// written is true once everything that can be in place is.
	written bool
}

// writeAdmission brings the policies of all pools and the bindings of this one to what they have to be. What the API server has
// no API for is left out and told.
func (r *Reconciler) writeAdmission(ctx context.Context, s *scope) flow.Outcome {
	support, err := admission.Supported(r.client.RESTMapper())
	if err != nil {
		return flow.Fail(err)
	}
	s.choosing.missing = support.Missing()
	s.choosing.withoutEffect = withoutEffect(s.pool, support)
	shared, err := admission.PolicyObjects(r.namespace)
	if err != nil {
		return flow.Fail(err)
	}
	bindings, err := admission.Bindings(s.pool, r.namespace)
	if err != nil {
		return flow.Fail(err)
	}
	for _, object := range append(shared, bindings...) {
		if !support.Has(object.Kind) {
			continue
		}
		if err := r.writePolicy(ctx, s, object); err != nil {
			return flow.Refused(nodesv1.ReasonAdmissionRefused, err)
		}
	}
	stale := slices.DeleteFunc(admission.BindingNames(s.pool.Name), func(ref admission.Ref) bool {
		return !support.Has(ref.Kind) || slices.ContainsFunc(bindings, func(o admission.Object) bool { return o.Ref == ref })
	})
	if err := r.deleteOwned(ctx, s.pool, stale); err != nil {
		return flow.Fail(err)
	}
	s.choosing.written = s.choosing.foreign == ""
	return flow.Done()
}

// writePolicy applies one object where it is not as it has to be. One of somebody else's is left alone.
func (r *Reconciler) writePolicy(ctx context.Context, s *scope, object admission.Object) error {
	live := object.Live()
	err := r.client.Get(ctx, client.ObjectKeyFromObject(live), live)
	switch {
	case apierrors.IsNotFound(err):
		return patch.Create(ctx, r.client, object.Config)
	case err != nil:
		return fmt.Errorf("cannot read %s %q: %w", object.Kind, object.Name, err)
	case live.GetLabels()[admission.LabelManagedBy] != admission.ManagedBy:
		s.choosing.foreign = fmt.Sprintf("%s %s", object.Kind, object.Name)
		return nil
	}
	if covered, err := object.CoveredBy(live); err != nil || covered {
		return err
	}
	return patch.Apply(ctx, r.client, object.Config)
}

// deleteOwned deletes those of the objects that belong to the pool.
func (r *Reconciler) deleteOwned(ctx context.Context, pool *nodesv1.NodePool, refs []admission.Ref) error {
	return r.deletePolicies(ctx, refs, func(live client.Object) bool { return metav1.IsControlledBy(live, pool) })
}

func (r *Reconciler) deletePolicies(ctx context.Context, refs []admission.Ref, ours func(client.Object) bool) error {
	for _, ref := range refs {
		live := ref.Live()
		if err := r.client.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
			if apierrors.IsNotFound(err) {
				continue
			}
			return fmt.Errorf("cannot read %s %q: %w", ref.Kind, ref.Name, err)
		}
		if !ours(live) {
			continue
		}
		uid := live.GetUID()
		err := client.IgnoreNotFound(r.client.Delete(ctx, live, client.Preconditions{UID: &uid}))
		if err != nil {
			return fmt.Errorf("cannot delete %s %q: %w", ref.Kind, ref.Name, err)
		}
	}
	return nil
}

// removeAdmission deletes what is left of the pool's bindings, and with the last pool the policies of all.
func (r *Reconciler) removeAdmission(ctx context.Context, s *scope) error {
	support, err := admission.Supported(r.client.RESTMapper())
	if err != nil {
		return err
	}
	supported := func(refs []admission.Ref) []admission.Ref {
		return slices.DeleteFunc(refs, func(ref admission.Ref) bool { return !support.Has(ref.Kind) })
	}
	if err := r.deleteOwned(ctx, s.pool, supported(admission.BindingNames(s.pool.Name))); err != nil {
		return err
	}
	if !s.seen.lastPool {
		return nil
	}
	shared, err := admission.PolicyObjects(r.namespace)
	if err != nil {
		return err
	}
	var refs []admission.Ref
	for _, object := range slices.Backward(shared) { // a binding goes before its policy
		refs = append(refs, object.Ref)
	}
	return r.deletePolicies(ctx, supported(refs), func(live client.Object) bool {
		return live.GetLabels()[admission.LabelManagedBy] == admission.ManagedBy
	})
}

// withoutEffect returns the fields that the API server cannot put into effect.
func withoutEffect(pool *nodesv1.NodePool, support admission.Support) []string {
	var fields []string
	if pool.Spec.DefaultFor != nil && !support.Mutating {
		fields = append(fields, "spec.defaultFor")
	}
	allowed := pool.Spec.AllowedNamespaces
	if allowed != nil && allowed.From == nodesv1.NamespacesFromSelector && !support.Validating {
		fields = append(fields, "spec.allowedNamespaces")
	}
	return fields
}

// markAdmission says whether pods can choose the pool by other means than its RuntimeClass. A missing API is only a reason to
// stall where the spec counts on it.
func markAdmission(marks *status.Marks, s *scope, outcome flow.Outcome) {
	found := s.choosing
	switch {
	case outcome.Reason() == nodesv1.ReasonAdmissionRefused:
		marks.False(nodesv1.ConditionAdmissionReady, outcome.Reason(), outcome.Message())
	case found.foreign != "":
		message := found.foreign + " exists and belongs to somebody else: pods cannot choose this pool by label or default"
		marks.False(nodesv1.ConditionAdmissionReady, nodesv1.ReasonNameConflict, message)
		marks.Stall(nodesv1.ReasonNameConflict, message)
	case len(found.missing) > 0:
		message := fmt.Sprintf("the API server lacks %s: pods choose this pool by its RuntimeClass only", strings.Join(found.missing, " and "))
		marks.False(nodesv1.ConditionAdmissionReady, nodesv1.ReasonAdmissionUnsupported, message)
		if len(found.withoutEffect) > 0 {
			marks.Stall(nodesv1.ReasonAdmissionUnsupported, message+"; no effect: "+strings.Join(found.withoutEffect, ", "))
		}
	case found.written:
		marks.True(nodesv1.ConditionAdmissionReady, nodesv1.ReasonAdmissionReady, "")
	}
}
