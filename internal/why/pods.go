// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// Pods are equal pods that should run on a pool, and not all of them do.
type Pods struct {
	// Namespace is the namespace that they are in, nil if it is unknown.
	Namespace metav1.Object
	// OperatorNamespace is the one that the operator runs in, empty if it is unknown.
	OperatorNamespace string
	// Spec is the spec of each.
	Spec *corev1.PodSpec
	// Wanted is how many there should be.
	Wanted int32
	// Created is how many of them exist.
	Created int32
	// Unplaced is how many exist and have no node.
	Unplaced int32
	// PerNode counts the pods that have a node, by its name.
	PerNode map[string]int32
}

// waiting reports whether pods have no node. It is false if all have one, even if they do not run there.
func (p *Pods) waiting() bool {
	var placed int32
	for _, count := range p.PerNode {
		placed += count
	}
	return p.Unplaced > 0 || placed < p.Wanted || p.Created < p.Wanted
}

// Pool is the pool that the pods should run on.
type Pool struct {
	// Name is the name that the pods choose it by.
	Name string
	// Pool is the pool, nil if it does not exist.
	Pool *membership.Pool
	// Nodes are its members, in any order. Other nodes are ignored.
	Nodes []corev1.Node
}

// PodsMissing returns why the pool keeps the pods from running, nil if the pool is not the cause. Of several causes it returns
// the one to fix first.
func PodsMissing(pods Pods, pool Pool) *Cause {
	waiting := pods.waiting()
	if pool.Pool == nil {
		return when(waiting, &Cause{
			Reason: appsv1alpha1.ReasonPoolNotFound, Text: fmt.Sprintf("pool %s does not exist", pool.Name), Refusal: true,
		})
	}
	checks := []func(Pods, Pool) *Cause{deleting, notAllowed, noRuntimeClass, noPlace, handlerMissing}
	if !waiting {
		checks = []func(Pods, Pool) *Cause{noneReady, handlerMissing}
	}
	for _, check := range checks {
		if cause := check(pods, pool); cause != nil {
			return cause
		}
	}
	return nil
}

func deleting(_ Pods, pool Pool) *Cause {
	return when(pool.Pool.DeletionTimestamp != nil, &Cause{
		Reason: appsv1alpha1.ReasonPoolDeleting, Text: fmt.Sprintf("pool %s is being deleted", pool.Name), Refusal: true,
	})
}

// notAllowed concerns only pods that do not exist yet: existing pods were admitted. The policy of a pool matches neither kube-system nor the operator's
// namespace.
func notAllowed(pods Pods, pool Pool) *Cause {
	allowed := pool.Pool.Spec.AllowedNamespaces
	if pods.Created >= pods.Wanted || pods.Namespace == nil || allowed == nil ||
		allowed.From != nodesv1.NamespacesFromSelector {
		return nil
	}
	if name := pods.Namespace.GetName(); name == metav1.NamespaceSystem || name == pods.OperatorNamespace {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(allowed.Selector)
	if err != nil || selector.Matches(labels.Set(pods.Namespace.GetLabels())) {
		return nil
	}
	return &Cause{
		Reason: appsv1alpha1.ReasonPoolNotAllowed, Refusal: true,
		Text: fmt.Sprintf("namespace %s may not use pool %s, which is for namespaces with %s",
			pods.Namespace.GetName(), pool.Name, metav1.FormatLabelSelector(allowed.Selector)),
	}
}

// noRuntimeClass trusts the condition of the pool. A RuntimeClass that Windlass does not own does not stop pods from being
// created, but may send them elsewhere.
func noRuntimeClass(_ Pods, pool Pool) *Cause {
	text, foreign := fmt.Sprintf("pool %s has no RuntimeClass yet", pool.Name), false
	condition := apimeta.FindStatusCondition(pool.Pool.Status.Conditions, nodesv1.ConditionRuntimeClassReady)
	if condition != nil {
		dryRun := condition.Status == metav1.ConditionUnknown && condition.Reason == nodesv1.ReasonDryRun
		if condition.Status != metav1.ConditionFalse && !dryRun {
			return nil
		}
		text = fmt.Sprintf("the RuntimeClass of pool %s is not ready: %s", pool.Name, condition.Message)
		foreign = condition.Reason == nodesv1.ReasonNameConflict
	}
	return held(pool, &Cause{Reason: appsv1alpha1.ReasonPoolRuntimeClassNotReady, Text: text, Refusal: !foreign})
}
