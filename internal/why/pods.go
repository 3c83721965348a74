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

// Pods are equal pods that shall run on a pool, and not all of them do.
type Pods struct {
	// Namespace is the one that they are in, nil where it is not known.
	Namespace metav1.Object
	// Spec is what they look like.
	Spec *corev1.PodSpec
	// Wanted is how many there shall be.
	Wanted int32
	// Created is how many of them exist.
	Created int32
	// Unplaced is how many exist and have no node.
	Unplaced int32
	// PerNode counts those that have one by its name.
	PerNode map[string]int32
}

// waiting reports whether pods have no node. It is false where all have one and do not run there for reasons of their own.
func (p *Pods) waiting() bool {
	var placed int32
	for _, count := range p.PerNode {
		placed += count
	}
	return p.Unplaced > 0 || placed < p.Wanted || p.Created < p.Wanted
}

// Pool is the pool that the pods shall run on.
type Pool struct {
	// Name is the name that the pods choose it by.
	Name string
	// Pool is the pool, nil where there is none of that name.
	Pool *membership.Pool
	// Nodes are its members, in any order. Others among them do not count.
	Nodes []corev1.Node
}

// PodsMissing returns what about the pool keeps the pods from coming, nil where it is not the pool. Of several causes, it is the
// one that has to be removed first.
func PodsMissing(pods Pods, pool Pool) *Cause {
	waiting := pods.waiting()
	if pool.Pool == nil {
		return when(waiting, &Cause{
			Reason: appsv1alpha1.ReasonPoolNotFound, Text: fmt.Sprintf("there is no pool %s", pool.Name), Refusal: true,
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

// notAllowed concerns only pods that do not exist: those that do have been let in.
func notAllowed(pods Pods, pool Pool) *Cause {
	allowed := pool.Pool.Spec.AllowedNamespaces
	if pods.Created >= pods.Wanted || pods.Namespace == nil || allowed == nil ||
		allowed.From != nodesv1.NamespacesFromSelector {
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

// noRuntimeClass believes the pool's own word. A RuntimeClass of somebody else lets pods be created and sends them elsewhere.
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
