// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"maps"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	admissionregistrationv1ac "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// Bindings returns the objects that the pool has to have: its bindings, and the policy for spec.allowedNamespaces. Apply them in this
// order and before the RuntimeClass: what keeps other namespaces out comes first. Delete every other object in BindingNames. A pool
// that is being deleted takes no more pods by label or default, but still keeps other namespaces out.
func Bindings(pool *nodesv1.NodePool, operatorNamespace string) ([]Object, error) {
	var objects []Object
	var firstErr error
	add := func(object Object, err error) {
		objects = append(objects, object)
		firstErr = cmp.Or(firstErr, err)
	}
	if !allowed(pool).Empty() {
		add(allowedPolicy(pool, operatorNamespace))
		add(allowedBinding(pool))
	}
	if pool.DeletionTimestamp.IsZero() {
		add(labelBinding(pool))
		if selector := defaultSelector(pool); selector != nil {
			add(defaultBinding(pool, selector))
		}
	}
	if firstErr != nil {
		return nil, firstErr
	}
	return objects, nil
}

// labelBinding matches only pods that choose the pool by label, so an error here affects no other pods.
func labelBinding(pool *nodesv1.NodePool) (Object, error) {
	selector := metav1ac.LabelSelector().WithMatchLabels(map[string]string{nodesv1.PoolLabel: pool.Name})
	return mutatingBinding(pool, labelRef(pool.Name),
		admissionregistrationv1ac.MatchResources().WithObjectSelector(selector))
}

// defaultBinding matches the pods in the namespaces that have the pool as their default.
func defaultBinding(pool *nodesv1.NodePool, selector *metav1ac.LabelSelectorApplyConfiguration) (Object, error) {
	return mutatingBinding(pool, defaultRef(pool.Name),
		admissionregistrationv1ac.MatchResources().WithNamespaceSelector(selector))
}

// defaultSelector selects the namespaces that have the pool as their default and may use it: a default that is refused would stop
// every pod in the namespace. It is nil if there are no such namespaces.
func defaultSelector(pool *nodesv1.NodePool) *metav1ac.LabelSelectorApplyConfiguration {
	if pool.Spec.DefaultFor == nil {
		return nil
	}
	given := pool.Spec.DefaultFor.NamespaceSelector
	selector := metav1ac.LabelSelector()
	if len(given.MatchLabels) > 0 {
		selector.WithMatchLabels(given.MatchLabels)
	}
	require := func(key string, operator metav1.LabelSelectorOperator, values []string) {
		selector.WithMatchExpressions(metav1ac.LabelSelectorRequirement().
			WithKey(key).WithOperator(operator).WithValues(values...))
	}
	for _, requirement := range given.MatchExpressions {
		require(requirement.Key, requirement.Operator, requirement.Values)
	}
	if allowed(pool).Empty() {
		return selector
	}
	who := pool.Spec.AllowedNamespaces.Selector
	if _, selectable := allowed(pool).Requirements(); !selectable {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(who.MatchLabels)) {
		require(key, metav1.LabelSelectorOpIn, []string{who.MatchLabels[key]})
	}
	for _, requirement := range who.MatchExpressions {
		require(requirement.Key, requirement.Operator, requirement.Values)
	}
	return selector
}

func mutatingBinding(
	pool *nodesv1.NodePool, ref Ref, match *admissionregistrationv1ac.MatchResourcesApplyConfiguration,
) (Object, error) {
	return owned(pool, ref, admissionregistrationv1ac.MutatingAdmissionPolicyBinding(ref.Name).
		WithSpec(admissionregistrationv1ac.MutatingAdmissionPolicyBindingSpec().
			WithPolicyName(choosePolicyName).
			WithParamRef(paramRef(pool)).
			WithMatchResources(match)))
}

// paramRef passes the pool to the policy. A binding without its pool has no effect.
func paramRef(pool *nodesv1.NodePool) *admissionregistrationv1ac.ParamRefApplyConfiguration {
	return admissionregistrationv1ac.ParamRef().
		WithName(pool.Name).
		WithParameterNotFoundAction(admissionregistrationv1.AllowAction)
}
