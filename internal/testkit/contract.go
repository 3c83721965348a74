// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"regexp"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/status"
)

// clockTime finds a time of day in a message: it would make every pass a change.
var clockTime = regexp.MustCompile(`\d{2}:\d{2}:\d{2}`)

// CheckContract reports everything in the conditions of obj that breaks what Windlass promises of a status.
func CheckContract(t *testing.T, obj status.Object) {
	t.Helper()
	conditions := obj.GetConditions()
	isTrue := func(conditionType string) bool { return meta.IsStatusConditionTrue(conditions, conditionType) }

	for _, conditionType := range []string{status.Ready, status.Reconciling, status.Stalled, status.Paused} {
		if meta.FindStatusCondition(conditions, conditionType) == nil {
			t.Errorf("condition %s is missing", conditionType)
		}
	}
	if isTrue(status.Stalled) && isTrue(status.Reconciling) {
		t.Error("Stalled and Reconciling are both True")
	}
	atWork := isTrue(status.Stalled) || isTrue(status.Reconciling) || isTrue(status.Paused)
	if !isTrue(status.Ready) && !atWork {
		t.Error("Ready is not True, and neither Reconciling, Stalled nor Paused says why")
	}
	if isTrue(status.Ready) && (isTrue(status.Stalled) || isTrue(status.Reconciling)) {
		t.Error("Ready is True together with Stalled or Reconciling")
	}
	if ready := meta.FindStatusCondition(conditions, status.Ready); ready != nil && ready.Message == "" {
		t.Errorf("Ready is %s and has no message", ready.Status)
	}
	checkEach(t, conditions)
}

func checkEach(t *testing.T, conditions []metav1.Condition) {
	t.Helper()
	types := make([]string, 0, len(conditions))
	for _, condition := range conditions {
		types = append(types, condition.Type)
		CheckDocumented(t, condition.Reason)
		if condition.Reason == "" {
			t.Errorf("condition %s has no reason", condition.Type)
		}
		if clockTime.MatchString(condition.Message) {
			t.Errorf("the message of condition %s holds a time: %q", condition.Type, condition.Message)
		}
		if condition.ObservedGeneration != conditions[0].ObservedGeneration {
			t.Errorf("condition %s describes another generation than %s", condition.Type, conditions[0].Type)
		}
	}
	if types[0] != status.Ready || !slices.IsSorted(types[1:]) {
		t.Errorf("conditions are not sorted with Ready first: %v", types)
	}
}

// conditionSets holds, by generation, the conditions that an object had after its first pass.
type conditionSets map[int64][]string

// check reports conditions that come or go while the spec stays: a condition that nobody observed is Unknown and not absent.
func (s conditionSets) check(t *testing.T, obj status.Object) {
	t.Helper()
	var types []string
	for _, condition := range obj.GetConditions() {
		types = append(types, condition.Type)
	}
	before, ok := s[obj.GetGeneration()]
	if ok && !slices.Equal(before, types) {
		t.Errorf("the conditions were %v after an earlier pass and are %v now", before, types)
	}
	s[obj.GetGeneration()] = types
}
