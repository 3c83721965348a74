// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/patch"
)

// Reset returns a JSON patch that gives the live object the spec of this one, or nil if the spec is no matter of somebody else's: an apply leaves what
// others have added. The patch carries UID and resourceVersion, and the API server answers with a conflict if the object is another one by now. It is
// followed by an apply, which takes over the fields.
func (o Object) Reset(live client.Object) ([]byte, error) {
	desired, err := o.typed()
	if err != nil {
		return nil, err
	}
	applied := live.GetAnnotations()[patch.AppliedHashAnnotation] == desired.GetAnnotations()[patch.AppliedHashAnnotation]
	if !applied || sameSpec(live, desired) {
		return nil, nil
	}
	raw, err := json.Marshal(o.Config)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", o.Kind, o.Name, err)
	}
	var config struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		return nil, fmt.Errorf("cannot decode %s %q: %w", o.Kind, o.Name, err)
	}
	replace := func(path string, value any) map[string]any {
		return map[string]any{"op": "replace", "path": path, "value": value}
	}
	return json.Marshal([]any{
		replace("/metadata/uid", live.GetUID()), replace("/metadata/resourceVersion", live.GetResourceVersion()), replace("/spec", config.Spec),
	})
}

// typed returns the object as a client would read it, without the defaults of the API server.
func (o Object) typed() (client.Object, error) {
	raw, err := json.Marshal(o.Config)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", o.Kind, o.Name, err)
	}
	desired := o.Live()
	if err := json.Unmarshal(raw, desired); err != nil {
		return nil, fmt.Errorf("cannot decode %s %q: %w", o.Kind, o.Name, err)
	}
	return desired, nil
}

// sameSpec reports whether the two objects of one kind have the same spec. Something that one of them has besides is a difference: a further condition,
// a narrower selector or an excluded resource can keep a policy from all that it is for.
func sameSpec(a, b client.Object) bool { return equality.Semantic.DeepEqual(specOf(a), specOf(b)) }

// specOf returns a copy of the spec, with the defaults of the API server where Windlass leaves them to it.
func specOf(object client.Object) any {
	switch object := object.(type) {
	case *admissionregistrationv1.MutatingAdmissionPolicy:
		spec := object.Spec.DeepCopy()
		defaultMatch(spec.MatchConstraints)
		return spec
	case *admissionregistrationv1.MutatingAdmissionPolicyBinding:
		spec := object.Spec.DeepCopy()
		defaultMatch(spec.MatchResources)
		return spec
	case *admissionregistrationv1.ValidatingAdmissionPolicy:
		spec := object.Spec.DeepCopy()
		defaultMatch(spec.MatchConstraints)
		return spec
	case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
		spec := object.Spec.DeepCopy()
		defaultMatch(spec.MatchResources)
		return spec
	}
	return nil
}

func defaultMatch(match *admissionregistrationv1.MatchResources) {
	if match == nil {
		return
	}
	if match.NamespaceSelector == nil {
		match.NamespaceSelector = &metav1.LabelSelector{}
	}
	if match.ObjectSelector == nil {
		match.ObjectSelector = &metav1.LabelSelector{}
	}
	if match.MatchPolicy == nil {
		match.MatchPolicy = new(admissionregistrationv1.Equivalent)
	}
	for i := range match.ResourceRules {
		if match.ResourceRules[i].Scope == nil {
			match.ResourceRules[i].Scope = new(admissionregistrationv1.AllScopes)
		}
	}
}
