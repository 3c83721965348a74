// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"crypto/sha256"
	"encoding/hex"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind is a kind of the group admissionregistration.k8s.io.
type Kind string

// The kinds that this package describes.
const (
	// MutatingPolicy changes pods.
	MutatingPolicy Kind = "MutatingAdmissionPolicy"
	// MutatingBinding applies a MutatingPolicy for a pool.
	MutatingBinding Kind = "MutatingAdmissionPolicyBinding"
	// ValidatingPolicy refuses pods.
	ValidatingPolicy Kind = "ValidatingAdmissionPolicy"
	// ValidatingBinding applies a ValidatingPolicy.
	ValidatingBinding Kind = "ValidatingAdmissionPolicyBinding"
)

// Kinds returns all kinds that this package describes.
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

func (r Ref) gvk() schema.GroupVersionKind {
	return admissionregistrationv1.SchemeGroupVersion.WithKind(string(r.Kind))
}

// The names of the policies that all pools share, and of the binding of the second one.
const (
	choosePolicyName = "windlass-nodepool-choose"
	labelPolicyName  = "windlass-nodepool-label"
)

const kindNodePool = "NodePool"

// ChooseRef returns the name of the policy that the bindings of all pools need: the API server refuses a binding whose policy does not
// exist, unless its author may do everything.
func ChooseRef() Ref { return Ref{MutatingPolicy, choosePolicyName} }

// IsShared reports whether an object that all pools share has that name.
func IsShared(name string) bool { return name == choosePolicyName || name == labelPolicyName }

// The prefixes of the objects of one pool. The name of the pool follows.
const (
	labelPrefix   = "windlass-nodepool-label-"
	defaultPrefix = "windlass-nodepool-default-"
	allowedPrefix = "windlass-nodepool-allowed-"
)

// BindingNames returns the names of all objects that a pool can have, in the order in which to delete them. The last two keep other
// namespaces from the pool and go after the RuntimeClass.
func BindingNames(pool string) []Ref {
	return []Ref{defaultRef(pool), labelRef(pool), allowedBindingRef(pool), allowedPolicyRef(pool)}
}

func defaultRef(pool string) Ref { return Ref{MutatingBinding, defaultPrefix + shortened(pool)} }

func labelRef(pool string) Ref { return Ref{MutatingBinding, labelPrefix + shortened(pool)} }

func allowedBindingRef(pool string) Ref {
	return Ref{ValidatingBinding, allowedPrefix + shortened(pool)}
}

func allowedPolicyRef(pool string) Ref { return Ref{ValidatingPolicy, allowedPrefix + shortened(pool)} }

// A name that is too long for a label value is cut. A part of its hash makes it unique again.
const (
	shortNameLength = 52
	shortHashLength = 10
)

// shortened returns the name of a pool in a form that fits a label value, and an object name after a prefix.
func shortened(pool string) string {
	if len(pool) <= validation.LabelValueMaxLength {
		return pool
	}
	sum := sha256.Sum256([]byte(pool))
	return pool[:shortNameLength] + "-" + hex.EncodeToString(sum[:])[:shortHashLength]
}
