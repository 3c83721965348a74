// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// names of what all pools share.
func shared() []string {
	return []string{"windlass-nodepool-choose", "windlass-nodepool-label", "windlass-nodepool-label"}
}

func TestBindingsFollowThePool(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pool := c.pool(t, "follow", nodesv1.NodePoolSpec{})
	c.converge(t, pool)
	label, given := "windlass-nodepool-label-follow", "windlass-nodepool-default-follow"
	allowed := "windlass-nodepool-allowed-follow"
	steps := []struct {
		name string
		do   func()
		want []string
	}{
		{name: "a pool for everybody", do: func() {}, want: append(shared(), label)},
		{
			name: "a pool with rules", want: append(shared(), allowed, allowed, given, label),
			do: func() { testkit.Edit(t, c.Harness, pool, func(p *nodesv1.NodePool) { p.Spec = restricted() }) },
		},
		{
			name: "a pool whose rules were dropped", want: append(shared(), label),
			do: func() {
				testkit.Edit(t, c.Harness, pool, func(p *nodesv1.NodePool) { p.Spec = nodesv1.NodePoolSpec{} })
			},
		},
		{
			name: "a deleted pool", want: nil,
			do: func() { must(t, c.Live.Delete(t.Context(), pool)) },
		},
	}
	for _, step := range steps {
		step.do()
		c.converge(t, pool)
		if diff := cmp.Diff(sorted(step.want), c.managed(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		for _, ref := range admission.BindingNames(pool.Name) {
			live := ref.Live()
			if !c.Get(t, live) {
				continue
			}
			guards := ref.Name == allowed // these have to outlast a pool that is deleted in the foreground
			if admission.PoolOf(live) != pool.Name || metav1.IsControlledBy(live, pool) == guards {
				t.Errorf("%s: %s does not belong to the pool, or has the owners %v", step.name, ref.Name, live.GetOwnerReferences())
			}
		}
		if c.Get(t, pool) && !meta.IsStatusConditionTrue(pool.Status.Conditions, nodesv1.ConditionAdmissionReady) {
			t.Errorf("%s: the conditions are %+v", step.name, pool.Status.Conditions)
		}
	}
}

func TestDriftIsRepaired(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pool := c.pool(t, "drift", restricted())
	c.converge(t, pool)
	want := c.managed(t)
	for i, live := range objects(t.Context(), t, c.Live) {
		if i%2 == 0 {
			must(t, c.Live.Delete(t.Context(), live))
			continue
		}
		live.SetLabels(map[string]string{admission.LabelManagedBy: admission.ManagedBy})
		live.SetAnnotations(nil)
		must(t, c.Live.Update(t.Context(), live))
	}
	c.awaitCache(t)
	c.converge(t, pool)
	if diff := cmp.Diff(want, c.managed(t)); diff != "" {
		t.Errorf("the objects (-want +got):\n%s", diff)
	}
	for _, live := range objects(t.Context(), t, c.Live) {
		if len(live.GetAnnotations()) == 0 {
			t.Errorf("%T %s was not repaired", live, live.GetName())
		}
	}
}

// An apply leaves what others have added, which can keep a policy from everything that it is for.
func TestPoliciesThatSomebodyDisablesActAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pool := c.pool(t, "disabled", restricted())
	c.converge(t, pool)
	specs := func() map[string]any {
		out := map[string]any{}
		for _, live := range objects(t.Context(), t, c.Live) {
			switch live := live.(type) {
			case *admissionregistrationv1.MutatingAdmissionPolicy:
				out["mutating "+live.Name] = live.Spec
			case *admissionregistrationv1.MutatingAdmissionPolicyBinding:
				out["mutating binding "+live.Name] = live.Spec
			case *admissionregistrationv1.ValidatingAdmissionPolicy:
				out["validating "+live.Name] = live.Spec
			case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
				out["validating binding "+live.Name] = live.Spec
			}
		}
		return out
	}
	want := specs()
	never := admissionregistrationv1.MatchCondition{Name: "never", Expression: "false"}
	nowhere := &metav1.LabelSelector{MatchLabels: map[string]string{"no": "where"}}
	for _, live := range objects(t.Context(), t, c.Live) {
		switch live := live.(type) {
		case *admissionregistrationv1.MutatingAdmissionPolicy:
			live.Spec.MatchConditions = append(live.Spec.MatchConditions, never)
		case *admissionregistrationv1.MutatingAdmissionPolicyBinding:
			live.Spec.MatchResources.NamespaceSelector = nowhere
			live.Spec.MatchResources.ObjectSelector = nowhere
		case *admissionregistrationv1.ValidatingAdmissionPolicy:
			live.Spec.MatchConditions = append(live.Spec.MatchConditions, never)
			live.Spec.MatchConstraints.NamespaceSelector.MatchLabels = nowhere.MatchLabels
			live.Spec.MatchConstraints.ExcludeResourceRules = live.Spec.MatchConstraints.ResourceRules
		case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
			live.Spec.MatchResources = &admissionregistrationv1.MatchResources{NamespaceSelector: nowhere}
		}
		must(t, c.Live.Update(t.Context(), live))
	}
	c.awaitCache(t)
	c.converge(t, pool)
	if diff := cmp.Diff(want, specs()); diff != "" {
		t.Errorf("the specs (-want +got):\n%s", diff)
	}

	// What the repair wrote goes with the rules that it was for.
	testkit.Edit(t, c.Harness, pool, func(p *nodesv1.NodePool) {
		p.Spec.AllowedNamespaces.Selector.MatchLabels = map[string]string{"team": "other"}
		p.Spec.DefaultFor.NamespaceSelector = metav1.LabelSelector{MatchLabels: map[string]string{"another": "one"}}
	})
	c.converge(t, pool)
	if !c.Get(t, pool) || !meta.IsStatusConditionTrue(pool.Status.Conditions, nodesv1.ConditionAdmissionReady) {
		t.Errorf("the conditions are %+v", pool.Status.Conditions)
	}
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "windlass-nodepool-default-disabled"}}
	if c.Get(t, binding); len(binding.Spec.MatchResources.NamespaceSelector.MatchLabels) != 1 {
		t.Errorf("the pool is the default of %v", binding.Spec.MatchResources.NamespaceSelector)
	}
}

// Who may not choose the pool is kept out before there is a RuntimeClass to choose it by.
func TestRuntimeClassWaitsForTheGuard(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pool := c.pool(t, "guarded", restricted())
	c.SettleKey(t, c.pools, client.ObjectKeyFromObject(pool))
	class := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: pool.Name}}
	if c.Get(t, class) {
		t.Fatal("there is a RuntimeClass before the policy that keeps others out")
	}
	wantCondition(t, c, pool, nodesv1.ConditionAdmissionReady, nodesv1.ReasonAdmissionPending, "windlass-nodepool-allowed-guarded")
	wantCondition(t, c, pool, status.Reconciling, nodesv1.ReasonAdmissionPending, "windlass-nodepool-allowed-guarded")
	if pool.Status.ObservedGeneration == 0 || meta.IsStatusConditionTrue(pool.Status.Conditions, status.Ready) {
		t.Errorf("the conditions are %+v", pool.Status.Conditions)
	}
	c.converge(t, pool)
	if !c.Get(t, class) {
		t.Error("there is no RuntimeClass although the policy is in place")
	}
}

// A pool that was paused, in dry run or about to go said that Windlass could not look at its policies, and one that was created paused that it waited for them and for
// its RuntimeClass, which nobody writes before the pause ends.
func TestPoolThatRestsSaysHowItsPoliciesAre(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pool := c.pool(t, "resting", restricted())
	c.converge(t, pool)
	testkit.Edit(t, c.Harness, pool, func(p *nodesv1.NodePool) { p.Annotations = map[string]string{status.PausedAnnotation: "true"} })
	c.converge(t, pool)
	wantCondition(t, c, pool, nodesv1.ConditionAdmissionReady, nodesv1.ReasonAdmissionReady, "")
	testkit.Edit(t, c.Harness, pool, func(p *nodesv1.NodePool) { p.Annotations, p.Spec.DryRun = nil, true })
	c.converge(t, pool)
	wantCondition(t, c, pool, nodesv1.ConditionAdmissionReady, nodesv1.ReasonAdmissionReady, "")

	rehearsed := restricted()
	rehearsed.DryRun = true
	rehearsal := c.pool(t, "rehearsed", rehearsed)
	c.converge(t, pool, rehearsal)
	wantCondition(t, c, rehearsal, nodesv1.ConditionAdmissionReady, nodesv1.ReasonDryRun, "a dry run writes no policies")
	wantCondition(t, c, rehearsal, status.Ready, nodesv1.ReasonDryRun, "")

	paused := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "paused", Annotations: map[string]string{status.PausedAnnotation: "true"}}, Spec: restricted()}
	c.Create(t, paused)
	c.converge(t, paused)
	wantCondition(t, c, paused, nodesv1.ConditionAdmissionReady, status.ReasonPaused, "no policies and bindings are written")
	wantCondition(t, c, paused, nodesv1.ConditionRuntimeClassReady, status.ReasonPaused, "no RuntimeClass is written")
	wantCondition(t, c, paused, status.Ready, status.ReasonPaused, "no RuntimeClass is written")

	c.Create(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "of-resting", Labels: map[string]string{nodesv1.MemberLabel(pool.Name): ""}}})
	must(t, c.Live.Delete(t.Context(), pool))
	c.converge(t, pool)
	wantCondition(t, c, pool, nodesv1.ConditionAdmissionReady, status.ReasonNotObserved, "being deleted")
	wantCondition(t, c, pool, status.Ready, nodesv1.ReasonCleaningNodes, "")
}

func TestForeignPolicyIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "windlass-nodepool-allowed-foreign"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        "somebody-elses",
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	c.Create(t, binding)
	pool := c.pool(t, "foreign", restricted())
	c.converge(t, pool)
	wantCondition(t, c, pool, status.Stalled, nodesv1.ReasonNameConflict, "no effect: spec.allowedNamespaces")
	if c.Get(t, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: pool.Name}}) {
		t.Error("there is a RuntimeClass although nothing keeps others from the pool")
	}
	must(t, c.Live.Delete(t.Context(), pool))
	c.converge(t, pool)
	if c.Get(t, pool) || !c.Get(t, binding) {
		t.Error("the pool is not gone, or somebody else's binding is")
	}
	must(t, c.Live.Delete(t.Context(), binding))
}

func wantCondition(t *testing.T, c *cluster, pool *nodesv1.NodePool, conditionType, reason, message string) {
	t.Helper()
	c.Get(t, pool)
	condition := meta.FindStatusCondition(pool.Status.Conditions, conditionType)
	if condition == nil || condition.Reason != reason || !strings.Contains(condition.Message, message) {
		t.Errorf("condition %s is %+v, want reason %s and %q", conditionType, condition, reason, message)
	}
}
