// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

// Support says which APIs the API server has.
type Support struct {
	// Mutating is MutatingAdmissionPolicy v1 (Kubernetes 1.36 and later), for pod labels and defaults.
	Mutating bool
	// Validating is ValidatingAdmissionPolicy v1 (Kubernetes 1.30 and later), for allowed namespaces.
	Validating bool
}

// Supported returns which APIs the API server has.
func Supported(mapper meta.RESTMapper) (Support, error) {
	mutating, err := served(mapper, MutatingPolicy)
	if err != nil {
		return Support{}, err
	}
	validating, err := served(mapper, ValidatingPolicy)
	return Support{Mutating: mutating, Validating: validating}, err
}

func served(mapper meta.RESTMapper, kind Kind) (bool, error) {
	gvk := Ref{Kind: kind}.gvk()
	_, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot look up %q in the API server: %w", kind, err)
	}
	return true, nil
}

// Has reports whether the API server has that kind.
func (s Support) Has(kind Kind) bool {
	if kind == MutatingPolicy || kind == MutatingBinding {
		return s.Mutating
	}
	return s.Validating
}

// Missing returns the policy APIs that the API server lacks, as text for people.
func (s Support) Missing() []string {
	var missing []string
	for _, kind := range []Kind{MutatingPolicy, ValidatingPolicy} {
		if !s.Has(kind) {
			missing = append(missing, string(kind)+" "+admissionregistrationv1.SchemeGroupVersion.String())
		}
	}
	return missing
}
