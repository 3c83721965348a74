// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// The fields of a pool's spec that have no effect without these objects.
const (
	fieldAllowed = "spec.allowedNamespaces"
	fieldDefault = "spec.defaultFor"
)

// State compares an object that has to exist with what the cluster has.
type State int

const (
	// InPlace says that the object is as it has to be.
	InPlace State = iota
	// Missing says that the object does not exist.
	Missing
	// Different says that the object belongs to Windlass and has to change.
	Different
	// Foreign says that an object with this name does not belong to Windlass. It is left alone.
	Foreign
)

// Compare returns the state of the object. Live is the object with this name in the cluster, or nil.
func (o Object) Compare(live client.Object) (State, error) {
	if live == nil {
		return Missing, nil
	}
	if !Managed(live) {
		return Foreign, nil
	}
	covered, err := o.CoveredBy(live)
	if err != nil {
		return Different, fmt.Errorf("cannot compare %s %q: %w", o.Kind, o.Name, err)
	}
	if covered {
		return InPlace, nil
	}
	return Different, nil
}

// Managed reports whether the object belongs to Windlass.
func Managed(live client.Object) bool { return live.GetLabels()[LabelManagedBy] == ManagedBy }

// Review says which of the objects that concern a pool are in place.
type Review struct {
	// Unsupported are the APIs that the API server lacks.
	Unsupported []string
	// Foreign are the objects whose names are taken.
	Foreign []Ref
	// Pending are the objects that are missing or different.
	Pending []Ref
	// NoEffect are the fields of the pool's spec that have no effect, sorted.
	NoEffect []string
	// Open is true while the API server could keep other namespaces from the pool and does not yet.
	Open bool
}

// NewReview compares the objects that concern the pool with what find returns for them: the object in the cluster, or nil.
func NewReview(pool *nodesv1.NodePool, objects []Object, support Support, find func(Ref) (client.Object, error)) (Review, error) {
	review := Review{Unsupported: support.Missing()}
	for _, object := range objects {
		state := Missing
		if support.Has(object.Kind) {
			live, err := find(object.Ref)
			if err != nil {
				return Review{}, err
			}
			if state, err = object.inPlace(live); err != nil {
				return Review{}, err
			}
			review.add(object.Ref, state)
		}
		if state == InPlace {
			continue
		}
		if field := fieldBehind(pool, object.Ref); field != "" && !slices.Contains(review.NoEffect, field) {
			review.NoEffect = append(review.NoEffect, field)
		}
	}
	slices.Sort(review.NoEffect)
	review.Open = support.Validating && slices.Contains(review.NoEffect, fieldAllowed)
	return review, nil
}

// inPlace is Compare for an object that may keep out more than it has to: it does until its writer learns that all nodes have followed.
func (o Object) inPlace(live client.Object) (State, error) {
	state, err := o.Compare(live)
	if err != nil || state != Different {
		return state, err
	}
	more, err := o.Meanwhile(live)
	if err != nil {
		return Different, err
	}
	return more.Compare(live)
}

func (r *Review) add(ref Ref, state State) {
	switch state {
	case InPlace:
	case Foreign:
		r.Foreign = append(r.Foreign, ref)
	case Missing, Different:
		r.Pending = append(r.Pending, ref)
	}
}

// fieldBehind returns the field of the spec that has no effect without the object, or nothing if there is no such field.
func fieldBehind(pool *nodesv1.NodePool, ref Ref) string {
	switch ref {
	case allowedPolicyRef(pool.Name), allowedBindingRef(pool.Name):
		return fieldAllowed
	case defaultRef(pool.Name), ChooseRef():
		if pool.Spec.DefaultFor != nil {
			return fieldDefault
		}
	}
	return ""
}

// CheckAllowed returns an error if the selector in spec.allowedNamespaces is not valid. No namespace may use such a pool.
func CheckAllowed(pool *nodesv1.NodePool) error {
	given := pool.Spec.AllowedNamespaces
	if given == nil || given.From != nodesv1.NamespacesFromSelector {
		return nil
	}
	if _, err := metav1.LabelSelectorAsSelector(given.Selector); err != nil {
		return fmt.Errorf("%s.selector is not valid, so no namespace may use the pool: %w", fieldAllowed, err)
	}
	return nil
}
