// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/admission"
)

// specs are those parts of an object's spec that decide on what it acts; nil where the kind has none.
type specs struct {
	conditions *[]admissionregistrationv1.MatchCondition
	match      **admissionregistrationv1.MatchResources
}

func specsOf(live client.Object) specs {
	switch live := live.(type) {
	case *admissionregistrationv1.MutatingAdmissionPolicy:
		return specs{&live.Spec.MatchConditions, &live.Spec.MatchConstraints}
	case *admissionregistrationv1.MutatingAdmissionPolicyBinding:
		return specs{nil, &live.Spec.MatchResources}
	case *admissionregistrationv1.ValidatingAdmissionPolicy:
		return specs{&live.Spec.MatchConditions, &live.Spec.MatchConstraints}
	case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
		return specs{nil, &live.Spec.MatchResources}
	}
	return specs{}
}

// What somebody adds can keep a policy from everything that it is for.
func TestAPolicyThatSomebodyDisablesIsNotInPlace(t *testing.T) {
	t.Parallel()
	h := harness(t)
	pool := createPool(t, h, "disabled", fullPool("disabled").Spec)
	nowhere := map[string]string{"no": "where"}
	matching := func(change func(*admissionregistrationv1.MatchResources)) func(specs) bool {
		return func(spec specs) bool {
			if *spec.match == nil {
				*spec.match = &admissionregistrationv1.MatchResources{}
			}
			change(*spec.match)
			return true
		}
	}
	cases := map[string]func(specs) bool{
		"a further condition": func(spec specs) bool {
			if spec.conditions == nil {
				return false
			}
			*spec.conditions = append(*spec.conditions, admissionregistrationv1.MatchCondition{Name: "never", Expression: "false"})
			return true
		},
		"a narrower selector of namespaces": matching(func(match *admissionregistrationv1.MatchResources) {
			match.NamespaceSelector = &metav1.LabelSelector{MatchLabels: nowhere}
		}),
		"a narrower selector of objects": matching(func(match *admissionregistrationv1.MatchResources) {
			match.ObjectSelector = &metav1.LabelSelector{MatchLabels: nowhere}
		}),
		"excluded pods": matching(func(match *admissionregistrationv1.MatchResources) {
			match.ExcludeResourceRules = []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}}}
		}),
		"pods of one name": matching(func(match *admissionregistrationv1.MatchResources) {
			if len(match.ResourceRules) == 0 {
				match.ResourceRules = make([]admissionregistrationv1.NamedRuleWithOperations, 1)
			}
			match.ResourceRules[0].ResourceNames = []string{"none"}
		}),
	}
	for sentence, change := range cases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			for _, object := range everyObject(t, pool) {
				live := object.Live()
				if !h.Get(t, live) {
					t.Fatal("it is not there")
				}
				if !change(specsOf(live)) {
					continue
				}
				if state, err := object.Compare(live); state != admission.Different || err != nil {
					t.Errorf("%s %s is in state %v, %v", object.Kind, object.Name, state, err)
				}
			}
		})
	}
}
