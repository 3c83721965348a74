// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestUnknownFieldsAreFieldErrors reads messages that API servers have sent.
func TestUnknownFieldsAreFieldErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		message string
		want    []FieldError
	}{
		"a create with two unknown fields": {
			`Service in version "v1" cannot be handled as a Service: strict decoding error: unknown field "spec.prots", unknown field "spec.ports[0].prot"`,
			[]FieldError{
				{Location: "spec.prots", Message: "is an unknown field", Code: FieldUnknown},
				{Location: "spec.ports[0].prot", Message: "is an unknown field", Code: FieldUnknown},
			},
		},
		"a create with a field twice": {
			`strict decoding error: duplicate field "spec.size"`, []FieldError{{Location: "spec.size", Message: "is a duplicate field", Code: FieldDuplicate}},
		},
		"a create with a wrong type": {
			`Service in version "v1" cannot be handled as a Service: json: cannot unmarshal string into Go struct field ServiceSpec.spec.ports of type []v1.ServicePort`,
			[]FieldError{{Location: "spec.ports", Message: "has the wrong type: string", Code: FieldType}},
		},
		"an apply with an unknown field": {
			`failed to create typed patch object (default/web; /v1, Kind=Service): .spec.prots: field not declared in schema`,
			[]FieldError{{Location: "spec.prots", Message: "is an unknown field", Code: FieldUnknown}},
		},
		"an apply with several errors": {
			"failed to create typed patch object (default/web; /v1, Kind=Service): errors:\n  .spec.prots: field not declared in schema\n  .spec.ports: expected list, got &{x}",
			[]FieldError{
				{Location: "spec.prots", Message: "is an unknown field", Code: FieldUnknown},
				{Location: "spec.ports", Message: "has the wrong type: expected list", Code: FieldType},
			},
		},
		"anything else": {`etcdserver: request timed out`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, code := range []int{http.StatusBadRequest, http.StatusInternalServerError} {
				body, err := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status"}, Message: test.message})
				if err != nil {
					t.Fatal(err)
				}
				got := FromStatus(code, body)
				if diff := cmp.Diff(test.want, got.Errors); diff != "" {
					t.Errorf("errors (-want +got):\n%s", diff)
				}
				if invalid := got.Status == http.StatusUnprocessableEntity; invalid != (test.want != nil) || len(got.Kubernetes) == 0 {
					t.Errorf("the problem is %+v", got)
				}
			}
		})
	}
}

// FuzzFieldsOf holds that no message is too strange, and that a field is never empty.
func FuzzFieldsOf(f *testing.F) {
	f.Add(`strict decoding error: unknown field "a"`)
	f.Add("failed to create typed patch object (x): errors:\n  .a: b\n")
	f.Fuzz(func(t *testing.T, message string) {
		for _, field := range fieldsOf(message) {
			if strings.TrimSpace(field.Location) == "" || field.Message == "" {
				t.Errorf("%q has the field %+v", message, field)
			}
		}
	})
}
