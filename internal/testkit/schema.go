// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Manifest is one case of a schema test.
type Manifest struct {
	// YAML is the manifest. A namespaced object without a namespace goes to "default".
	YAML string
	// Refused is what the API server's refusal has to contain; empty for a manifest that is accepted.
	Refused string
	// Check looks at the object as the API server would store it.
	Check func(t *testing.T, stored *unstructured.Unstructured)
}

// CheckManifests sends each manifest to the API server as kubectl does, unknown fields being errors, without storing it.
func CheckManifests(t *testing.T, manifests map[string]Manifest) {
	t.Helper()
	h := New(t)
	for name, manifest := range manifests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := &unstructured.Unstructured{}
			must(t, yaml.Unmarshal([]byte(manifest.YAML), &obj.Object))
			if mapping, err := h.Live.RESTMapper().RESTMapping(obj.GroupVersionKind().GroupKind()); err == nil &&
				mapping.Scope.Name() == "namespace" && obj.GetNamespace() == "" {
				obj.SetNamespace(metav1.NamespaceDefault)
			}
			err := h.Live.Create(t.Context(), obj, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
			switch {
			case manifest.Refused == "" && err != nil:
				t.Errorf("the manifest was refused: %v", err)
			case manifest.Refused != "" && err == nil:
				t.Errorf("the manifest was accepted, want a refusal with %q", manifest.Refused)
			case manifest.Refused != "" && !strings.Contains(err.Error(), manifest.Refused):
				t.Errorf("the refusal is %q, want it to contain %q", err, manifest.Refused)
			case manifest.Check != nil && err == nil:
				manifest.Check(t, obj)
			}
		})
	}
}
