// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
)

// tiered is a pool that is for one team and puts the label tier on its nodes.
func tiered(tier string) *nodesv1.NodePool {
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "tiered", UID: "1-2-3"}}
	pool.Spec = allow(metav1.LabelSelector{MatchLabels: map[string]string{"team": "ml"}})
	if tier != "" {
		pool.Spec.Labels = map[string]nodesv1.LabelValue{"tier": nodesv1.LabelValue(tier)}
	}
	return pool
}

// guardOf returns the policy that keeps other namespaces out of the pool.
func guardOf(t *testing.T, pool *nodesv1.NodePool) admission.Object {
	t.Helper()
	bindings, err := admission.Bindings(pool, operatorNamespace)
	if err != nil || bindings[0].Kind != admission.ValidatingPolicy {
		t.Fatalf("the objects of the pool are %v, %v", bindings, err)
	}
	return bindings[0]
}

func meanwhile(t *testing.T, object admission.Object, live client.Object) admission.Object {
	t.Helper()
	kept, err := object.Meanwhile(live)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// chosen returns the condition of the policy that says which pods choose the pool.
func chosen(t *testing.T, object admission.Object) string {
	t.Helper()
	policy, ok := applied(t, object).(*admissionregistrationv1.ValidatingAdmissionPolicy)
	if !ok {
		t.Fatalf("%s is no policy", object.Name)
	}
	return policy.Spec.MatchConditions[len(policy.Spec.MatchConditions)-1].Expression
}

func TestGuardKeepsEarlierSpecs(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		tiers     []string // one spec after the other, before nodes have followed any
		kept, not []string
	}{
		"one that has never changed":                {tiers: []string{"a"}, kept: []string{"a"}},
		"one that has changed":                      {tiers: []string{"a", "b"}, kept: []string{"b", "a"}},
		"one that changed back":                     {tiers: []string{"a", "b", "a"}, kept: []string{"a", "b"}},
		"one that puts nothing on nodes any more":   {tiers: []string{"a", ""}, kept: []string{"a"}},
		"one that put nothing on nodes before":      {tiers: []string{"", "a"}, kept: []string{"a"}},
		"one that changes again and again, a while": {tiers: []string{"a", "b", "c", "d", "e", "f"}, kept: []string{"f", "e", "d", "c", "b"}, not: []string{"a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := guardOf(t, tiered(tc.tiers[0]))
			for _, tier := range tc.tiers[1:] {
				object = meanwhile(t, guardOf(t, tiered(tier)), applied(t, object))
			}
			expression := chosen(t, object)
			for _, tier := range tc.kept {
				if strings.Count(expression, `{"tier": ["`+tier+`"]}`) == 0 {
					t.Errorf("nodes of tier %s are open: %s", tier, expression)
				}
			}
			for _, tier := range tc.not {
				if strings.Contains(expression, `{"tier": ["`+tier+`"]}`) {
					t.Errorf("the policy grows: it still has tier %s", tier)
				}
			}

			live, present := applied(t, object), guardOf(t, tiered(tc.tiers[len(tc.tiers)-1]))
			if again := meanwhile(t, present, live); chosen(t, again) != expression {
				t.Errorf("a second pass changes the policy to %s", chosen(t, again))
			}
			review, err := admission.NewReview(tiered(tc.tiers[len(tc.tiers)-1]), []admission.Object{present}, admission.Support{Mutating: true, Validating: true},
				func(admission.Ref) (client.Object, error) { return live, nil })
			if err != nil || review.Open || len(review.Pending) > 0 {
				t.Errorf("the pool waits for a policy that keeps out more than it has to: %+v, %v", review, err)
			}
		})
	}
}
