// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Announcement declares that a transition of a condition is worth an event.
type Announcement struct {
	// Condition is the type of the condition, which may be one of the summaries, such as Stalled.
	Condition string
	// Status is the value that the condition has to take.
	Status metav1.ConditionStatus
	// Reasons limits the announcement to these reasons; empty means any.
	Reasons []string
	// Warning makes the event a warning.
	Warning bool
	// Action is the action of the event, one word in CamelCase.
	Action string
	// Note is the note of the event. Empty means the message of the condition.
	Note string
}

// Transition is an announced transition that has happened.
type Transition struct {
	Announcement

	// Reason is the reason of the condition.
	Reason string
}

// Transitions returns the announced transitions between two states of an object, in the order of the announcements. One reason is
// announced once: a summary such as Stalled repeats the condition that it sums up.
//
// A condition has made a transition if its status or its reason is another one. A new message for the same reason counts only if
// the spec has changed as well: it answers the change. Otherwise the message has numbers and names that change while work goes on.
func Transitions(announced []Announcement, before, after []metav1.Condition) []Transition {
	var list []Transition
	for _, announcement := range announced {
		is := meta.FindStatusCondition(after, announcement.Condition)
		was := meta.FindStatusCondition(before, announcement.Condition)
		if is == nil || !announcement.covers(is) || was != nil && !moved(was, is) {
			continue
		}
		if slices.ContainsFunc(list, func(t Transition) bool { return t.Reason == is.Reason }) {
			continue
		}
		transition := Transition{Announcement: announcement, Reason: is.Reason}
		if transition.Note == "" {
			transition.Note = is.Message
		}
		list = append(list, transition)
	}
	return list
}

func (a Announcement) covers(condition *metav1.Condition) bool {
	return condition.Status == a.Status && (len(a.Reasons) == 0 || slices.Contains(a.Reasons, condition.Reason))
}

func moved(was, is *metav1.Condition) bool {
	return was.Status != is.Status || was.Reason != is.Reason ||
		was.Message != is.Message && was.ObservedGeneration != is.ObservedGeneration
}
