// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Progressed reports whether two states of an object differ in nothing but how far the work on it is: in both, it is being worked on for one
// of the reasons that say no more than that, and both describe the same spec. The first state may also be that nobody has reported yet.
func Progressed(before, after []metav1.Condition, underway []string) bool {
	if !isUnderway(after, underway) {
		return false
	}
	if Unwritten(before) {
		return true
	}
	return isUnderway(before, underway) &&
		meta.FindStatusCondition(before, Ready).ObservedGeneration == meta.FindStatusCondition(after, Ready).ObservedGeneration
}

// isUnderway reports whether Ready and Reconciling say nothing but that work goes on. Reconciling is True neither for an object that stalls
// nor for one that is paused.
func isUnderway(conditions []metav1.Condition, underway []string) bool {
	ready, working := meta.FindStatusCondition(conditions, Ready), meta.FindStatusCondition(conditions, Reconciling)
	return ready != nil && ready.Status != metav1.ConditionTrue && slices.Contains(underway, ready.Reason) &&
		working != nil && working.Status == metav1.ConditionTrue && slices.Contains(underway, working.Reason)
}
