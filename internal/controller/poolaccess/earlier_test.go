// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// No controller of nodes runs here, so that the node of the pool never follows.
func TestGuardKeepsAnEarlierSpecUntilNodesHaveFollowed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "earlier", Labels: map[string]string{nodesv1.RoleLabel("earlier"): "true"}}}
	c.Create(t, node)
	t.Cleanup(func() { _ = c.Live.Delete(context.WithoutCancel(t.Context()), node) })
	spec := restricted()
	spec.Labels = map[string]nodesv1.LabelValue{"tier": "a"}
	pool := c.pool(t, "earlier", spec)
	c.converge(t, pool)
	c.wantTiers(t, "a")

	testkit.Edit(t, c.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.Labels["tier"] = "b" })
	c.converge(t, pool)
	c.wantTiers(t, "a", "b")

	must(t, c.Live.Delete(t.Context(), node))
	c.converge(t, pool)
	c.wantTiers(t, "b")
}

// wantTiers fails unless the policy of the pool "earlier" keeps pods from nodes of exactly these tiers.
func (c *cluster) wantTiers(t *testing.T, want ...string) {
	t.Helper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "windlass-nodepool-allowed-earlier"}}
	if !c.Get(t, policy) {
		t.Fatal("there is no policy")
	}
	var got []string
	for _, tier := range []string{"a", "b"} {
		if slices.ContainsFunc(policy.Spec.MatchConditions, func(m admissionregistrationv1.MatchCondition) bool {
			return strings.Contains(m.Expression, `{"tier": ["`+tier+`"]}`)
		}) {
			got = append(got, tier)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the policy is for nodes of the tiers %v, want %v", got, want)
	}
}
