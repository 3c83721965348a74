// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/patch"
)

// Labels of everything that this package asks for.
const (
	// LabelManagedBy tells whose an object is.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "windlass"
)

// Kind is a kind of the group admissionregistration.k8s.io.
type Kind string

// The kinds that this package asks for.
const (
	// MutatingPolicy changes pods.
	MutatingPolicy Kind = "MutatingAdmissionPolicy"
	// MutatingBinding puts a MutatingPolicy into force for a pool.
	MutatingBinding Kind = "MutatingAdmissionPolicyBinding"
	// ValidatingPolicy refuses pods.
	ValidatingPolicy Kind = "ValidatingAdmissionPolicy"
	// ValidatingBinding puts a ValidatingPolicy into force.
	ValidatingBinding Kind = "ValidatingAdmissionPolicyBinding"
)

// Kinds returns all of them.
func Kinds() []Kind {
	return []Kind{MutatingPolicy, MutatingBinding, ValidatingPolicy, ValidatingBinding}
}

// Ref names an object.
type Ref struct {
	// Kind is its kind.
	Kind Kind
	// Name is its name.
	Name string
}

// Live returns an empty object of that kind and name, to read into or to delete.
func (r Ref) Live() client.Object {
	meta := metav1.ObjectMeta{Name: r.Name}
	switch r.Kind {
	case MutatingPolicy:
		return &admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: meta}
	case MutatingBinding:
		return &admissionregistrationv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta}
	case ValidatingPolicy:
		return &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: meta}
	default:
		return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta}
	}
}

// Object is an object that has to exist.
type Object struct {
	Ref

	// Config is what to apply. It carries patch.AppliedHashAnnotation.
	Config runtime.ApplyConfiguration

	// withUID adds a UID to Config.
	withUID func(types.UID) runtime.ApplyConfiguration
}

// Update returns what to apply to the object of that UID. The API server refuses it where there is no such object any more.
func (o Object) Update(uid types.UID) runtime.ApplyConfiguration { return o.withUID(uid) }

// CoveredBy reports whether live is as it has to be, so that there is nothing to apply.
func (o Object) CoveredBy(live client.Object) (bool, error) {
	// What a client has read does not say its kind.
	current, ok := live.DeepCopyObject().(client.Object)
	if !ok {
		return false, fmt.Errorf("cannot copy %T: no client.Object", live)
	}
	current.GetObjectKind().SetGroupVersionKind(o.gvk())
	return patch.Covers(current, o.Config)
}

func (r Ref) gvk() schema.GroupVersionKind {
	return admissionregistrationv1.SchemeGroupVersion.WithKind(string(r.Kind))
}

// config is what the apply configurations of all kinds have.
type config[T any] interface {
	runtime.ApplyConfiguration
	WithLabels(entries map[string]string) T
	WithAnnotations(entries map[string]string) T
	WithUID(uid types.UID) T
	WithOwnerReferences(values ...*metav1ac.OwnerReferenceApplyConfiguration) T
}

// shared returns the object of all pools, which belongs to none of them.
func shared[T config[T]](ref Ref, desired T) (Object, error) {
	return stamped(ref, desired.WithLabels(map[string]string{LabelManagedBy: ManagedBy}))
}

// owned returns the object of one pool, which goes with it.
func owned[T config[T]](pool *nodesv1.NodePool, ref Ref, desired T) (Object, error) {
	owner := patch.Owner(pool, nodesv1.SchemeGroupVersion.WithKind(kindNodePool))
	labels := map[string]string{LabelManagedBy: ManagedBy, nodesv1.PoolLabel: shortened(pool.Name)}
	return stamped(ref, desired.WithLabels(labels).WithOwnerReferences(owner))
}

func stamped[T config[T]](ref Ref, desired T) (Object, error) {
	hash, err := patch.Hash(desired)
	if err != nil {
		return Object{}, err
	}
	return Object{
		Ref:     ref,
		Config:  desired.WithAnnotations(map[string]string{patch.AppliedHashAnnotation: hash}),
		withUID: func(uid types.UID) runtime.ApplyConfiguration { return desired.WithUID(uid) },
	}, nil
}

// A name that is too long for a label value is cut, and made unique again by a part of its hash.
const (
	shortNameLength = 52
	shortHashLength = 10
)

// shortened returns the name of a pool in a form that fits a label value, and behind a prefix an object's name.
func shortened(pool string) string {
	if len(pool) <= validation.LabelValueMaxLength {
		return pool
	}
	sum := sha256.Sum256([]byte(pool))
	return pool[:shortNameLength] + "-" + hex.EncodeToString(sum[:])[:shortHashLength]
}
