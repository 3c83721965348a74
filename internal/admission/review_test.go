// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/patch"
)

// applied returns the object as the API server has it after it was applied.
func applied(t *testing.T, object admission.Object) client.Object {
	t.Helper()
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.Config)
	if err != nil {
		t.Fatal(err)
	}
	live := object.Live()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, live); err != nil {
		t.Fatal(err)
	}
	return live
}

func TestReview(t *testing.T) {
	t.Parallel()
	everything := admission.Support{Mutating: true, Validating: true}
	const allowedField, defaultField = "spec.allowedNamespaces", "spec.defaultFor"
	choose := admission.Ref{Kind: admission.MutatingPolicy, Name: "windlass-nodepool-choose"}
	label := admission.Ref{Kind: admission.MutatingBinding, Name: "windlass-nodepool-label-gpu"}
	given := admission.Ref{Kind: admission.MutatingBinding, Name: "windlass-nodepool-default-gpu"}
	guard := admission.Ref{Kind: admission.ValidatingPolicy, Name: "windlass-nodepool-allowed-gpu"}
	binding := admission.Ref{Kind: admission.ValidatingBinding, Name: "windlass-nodepool-allowed-gpu"}
	lacking := []string{"MutatingAdmissionPolicy admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy admissionregistration.k8s.io/v1"}

	cases := map[string]struct {
		spec                        nodesv1.NodePoolSpec
		support                     admission.Support
		missing, different, foreign []admission.Ref
		want                        admission.Review
	}{
		"everything in place": {spec: fullPool("gpu").Spec, support: everything},
		"the guard is missing": {
			spec: fullPool("gpu").Spec, support: everything, missing: []admission.Ref{guard},
			want: admission.Review{Pending: []admission.Ref{guard}, NoEffect: []string{allowedField}, Open: true},
		},
		"the guard's binding is different": {
			spec: fullPool("gpu").Spec, support: everything, different: []admission.Ref{binding},
			want: admission.Review{Pending: []admission.Ref{binding}, NoEffect: []string{allowedField}, Open: true},
		},
		"the name of the guard is taken": {
			spec: fullPool("gpu").Spec, support: everything, foreign: []admission.Ref{guard},
			want: admission.Review{Foreign: []admission.Ref{guard}, NoEffect: []string{allowedField}, Open: true},
		},
		"the default is missing": {
			spec: fullPool("gpu").Spec, support: everything, missing: []admission.Ref{choose, given},
			want: admission.Review{Pending: []admission.Ref{choose, given}, NoEffect: []string{defaultField}},
		},
		"a field that is not set lacks no effect": {
			support: everything, missing: []admission.Ref{choose, label},
			want: admission.Review{Pending: []admission.Ref{choose, label}},
		},
		"an old API server cannot keep anybody out": {
			spec: fullPool("gpu").Spec,
			want: admission.Review{Unsupported: lacking, NoEffect: []string{allowedField, defaultField}},
		},
		"an API server before 1.36 has no defaults": {
			spec: fullPool("gpu").Spec, support: admission.Support{Validating: true}, missing: []admission.Ref{guard},
			want: admission.Review{
				Unsupported: lacking[:1], Pending: []admission.Ref{guard}, NoEffect: []string{allowedField, defaultField}, Open: true,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "gpu", UID: "1-2-3"}, Spec: tc.spec}
			objects := everyObject(t, pool)
			got, err := admission.NewReview(pool, objects, tc.support, func(ref admission.Ref) (client.Object, error) {
				live := applied(t, objects[slices.IndexFunc(objects, func(o admission.Object) bool { return o.Ref == ref })])
				switch {
				case slices.Contains(tc.missing, ref):
					return nil, nil
				case slices.Contains(tc.different, ref):
					live.SetAnnotations(map[string]string{patch.AppliedHashAnnotation: "older"})
				case slices.Contains(tc.foreign, ref):
					live.SetLabels(nil)
				}
				return live, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("the review (-want +got):\n%s", diff)
			}
		})
	}
}

// everyObject returns all objects that concern the pool.
func everyObject(t *testing.T, pool *nodesv1.NodePool) []admission.Object {
	t.Helper()
	shared, err := admission.PolicyObjects(operatorNamespace)
	if err != nil {
		t.Fatal(err)
	}
	own, err := admission.Bindings(pool, operatorNamespace)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(shared, own)
}
