// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// bindings returns the pool's bindings that exist.
func (w *world) bindings(pool *nodesv1.NodePool) map[string]client.Object {
	w.t.Helper()
	found := map[string]client.Object{}
	for _, ref := range admission.BindingNames(pool.Name) {
		if live := ref.Live(); w.Get(w.t, live) {
			found[ref.Name] = live
		}
	}
	return found
}

func TestBindingsFollowThePool(t *testing.T) {
	w := newWorld(t)
	pool := w.pool("p")
	w.converge()
	w.Get(t, pool)
	if !meta.IsStatusConditionTrue(pool.Status.Conditions, nodesv1.ConditionAdmissionReady) {
		t.Errorf("conditions are %+v", pool.Status.Conditions)
	}
	if got := w.bindings(pool); len(got) != 1 {
		t.Errorf("a pool for everybody has %d bindings, want the one of the pod label", len(got))
	}

	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) {
		team := &metav1.LabelSelector{MatchLabels: map[string]string{"team": w.prefix}}
		p.Spec.AllowedNamespaces = &nodesv1.AllowedNamespaces{From: nodesv1.NamespacesFromSelector, Selector: team}
		p.Spec.DefaultFor = &nodesv1.DefaultFor{NamespaceSelector: *team}
	})
	w.converge()
	got := w.bindings(pool)
	if len(got) != 3 {
		t.Errorf("a pool with rules has %d bindings, want 3", len(got))
	}
	for name, binding := range got {
		if !metav1.IsControlledBy(binding, pool) {
			t.Errorf("binding %s does not belong to the pool", name)
		}
	}

	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.AllowedNamespaces, p.Spec.DefaultFor = nil, nil })
	w.converge()
	if got := w.bindings(pool); len(got) != 1 {
		t.Errorf("a pool whose rules were dropped has %d bindings, want 1", len(got))
	}

	if err := w.Live.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.converge()
	if got := w.bindings(pool); len(got) != 0 || w.Get(t, pool) {
		t.Errorf("a deleted pool left %d bindings", len(got))
	}
}

func TestBindingDriftIsRepaired(t *testing.T) {
	w := newWorld(t)
	pool := w.pool("p")
	w.converge()
	for _, binding := range w.bindings(pool) {
		if err := w.Live.Delete(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Eventually(t, "the cache has seen the deletion", func() bool {
		for _, ref := range admission.BindingNames(pool.Name) {
			live := ref.Live()
			if w.Client.Get(t.Context(), client.ObjectKeyFromObject(live), live) == nil {
				return false
			}
		}
		return true
	})
	w.converge()
	if got := w.bindings(pool); len(got) != 1 {
		t.Errorf("there are %d bindings, want the deleted one again", len(got))
	}
}
