// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// DrainRequest asks for a node without pods. Pods of DaemonSets and mirror pods stay in any case.
type DrainRequest struct {
	// GracePeriodSeconds of the pods.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty" minimum:"0" doc:"How long each pod may take to end. The default is its own" example:"30"`
	// DeleteEmptyDirData evicts pods with data that ends with them.
	DeleteEmptyDirData bool `json:"deleteEmptyDirData,omitempty" doc:"Evict pods with emptyDir volumes too: their data is lost"`
	// Force evicts pods that nothing creates again.
	Force bool `json:"force,omitempty" doc:"Evict pods without a controller too: nothing creates them again"`
}

// DrainResult is what became of a pod, or would.
type DrainResult string

// Results.
const (
	// DrainEvicted says that the pod was evicted, and WouldBeEvicted that it would be.
	DrainEvicted   DrainResult = "Evicted"
	WouldBeEvicted DrainResult = "WouldBeEvicted"
	// DrainBlocked says that a disruption budget keeps the pod for now.
	DrainBlocked DrainResult = "Blocked"
	// DrainForbidden says that the caller must not evict the pod, and DrainFailed that its eviction failed otherwise.
	DrainForbidden DrainResult = "Forbidden"
	DrainFailed    DrainResult = "Failed"
	// DrainEnding says that the pod is being deleted already, and DrainGone that it is gone.
	DrainEnding DrainResult = "Ending"
	DrainGone   DrainResult = "Gone"
	// DrainDaemonSet and DrainMirror say that the pod belongs to the node.
	DrainDaemonSet DrainResult = "DaemonSet"
	DrainMirror    DrainResult = "Mirror"
	// DrainUnmanaged says that the pod stays without force, and DrainLocalData that it stays without deleteEmptyDirData.
	DrainUnmanaged DrainResult = "Unmanaged"
	DrainLocalData DrainResult = "LocalData"
)

// DrainedPod is a pod of a node that is drained.
type DrainedPod struct {
	// Namespace, Name and UID of the pod.
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	// Result says what became of it.
	Result DrainResult `json:"result" enum:"Evicted,WouldBeEvicted,Blocked,Forbidden,Failed,Ending,Gone,DaemonSet,Mirror,Unmanaged,LocalData" doc:"Evicted; WouldBeEvicted in a dry run; Blocked by a budget; Forbidden or Failed; Ending or Gone already; or what keeps it: DaemonSet, Mirror, Unmanaged without force, LocalData without deleteEmptyDirData"`
	// Detail is what the API server said.
	Detail string `json:"detail,omitempty" doc:"What the API server said"`
	// Budget keeps the pod.
	Budget string `json:"budget,omitempty" doc:"The PodDisruptionBudget that keeps the pod, if the caller can list budgets"`
}

// Drain is what a request has done to a node and its pods.
type Drain struct {
	// Node that is drained.
	Node string `json:"node"`
	// Pods of the node.
	Pods []DrainedPod `json:"pods" nullable:"false" doc:"All pods of the node, by namespace and name"`
	// Remaining is how many pods have to go and have not ended.
	Remaining int `json:"remaining" doc:"How many pods have to go and have not ended, or would not go: send the request again until it is 0"`
	// BudgetsKnown is false if pods may keep each other.
	BudgetsKnown bool `json:"budgetsKnown" doc:"Whether the caller can list budgets. If not, each pod of a dry run is tried for itself: that a budget allows one pod and not two is not seen"`
}

// PlanDrain says of every pod of a node whether it would be evicted, or why it stays.
func PlanDrain(node string, pods []corev1.Pod, want *DrainRequest) Drain {
	out := Drain{Node: node, Pods: make([]DrainedPod, 0, len(pods))}
	for i := range pods {
		pod := &pods[i]
		out.Pods = append(out.Pods, DrainedPod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Result: leaves(pod, want)})
	}
	return out
}

// leaves returns WouldBeEvicted for a pod that has to go, or why it stays.
func leaves(pod *corev1.Pod, want *DrainRequest) DrainResult {
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	owner := metav1.GetControllerOf(pod)
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	switch {
	case mirror:
		return DrainMirror
	case owner != nil && owner.Kind == "DaemonSet":
		return DrainDaemonSet
	case pod.DeletionTimestamp != nil:
		return DrainEnding
	case ended:
		return WouldBeEvicted
	case owner == nil && !want.Force:
		return DrainUnmanaged
	case !want.DeleteEmptyDirData && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.EmptyDir != nil }):
		return DrainLocalData
	}
	return WouldBeEvicted
}

// Count counts the pods that have to go and have not ended. In a dry run those that would go do not count.
func (d *Drain) Count() {
	d.Remaining = 0
	for _, pod := range d.Pods {
		switch pod.Result {
		case DrainEvicted, DrainEnding, DrainBlocked, DrainForbidden, DrainFailed, DrainUnmanaged, DrainLocalData:
			d.Remaining++
		case WouldBeEvicted, DrainGone, DrainDaemonSet, DrainMirror:
		}
	}
}

// Spend says which of the pods that would go are kept by budgets, because others go before them: a dry run of the API server
// tries each pod for itself. It also names the budgets of pods that are blocked.
func (d *Drain) Spend(pods []corev1.Pod, budgets []policyv1.PodDisruptionBudget) {
	d.BudgetsKnown = true
	left := map[types.NamespacedName]int32{}
	for i := range budgets {
		left[keyOf(&budgets[i])] = budgets[i].Status.DisruptionsAllowed
	}
	for i := range d.Pods {
		budget := budgetOf(&pods[i], budgets)
		if budget == nil {
			continue
		}
		at := &d.Pods[i]
		if at.Result == DrainBlocked {
			at.Budget = budget.Name
		}
		if at.Result != WouldBeEvicted || !isReady(&pods[i]) {
			continue // a pod that is not ready takes nothing from a budget that lets it go
		}
		key := keyOf(budget)
		if left[key] <= 0 {
			at.Result, at.Budget = DrainBlocked, budget.Name
			continue
		}
		left[key]--
	}
}

func keyOf(budget *policyv1.PodDisruptionBudget) types.NamespacedName {
	return types.NamespacedName{Namespace: budget.Namespace, Name: budget.Name}
}

// budgetOf returns the budget that is about the pod.
func budgetOf(pod *corev1.Pod, budgets []policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
	for i := range budgets {
		selector, err := metav1.LabelSelectorAsSelector(budgets[i].Spec.Selector)
		if err == nil && budgets[i].Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels)) {
			return &budgets[i]
		}
	}
	return nil
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
