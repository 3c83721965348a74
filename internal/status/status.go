// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package status keeps conditions truthful. A kind declares its conditions once; each pass marks what it observed; Ready,
// Reconciling and Stalled are then computed, never set by hand:
//
//   - a declared condition that a pass did not mark is Unknown,
//   - Ready is the first declared condition that is not as it should be, or True,
//   - Stalled is what a pass could not get past, Reconciling that it is still at work: never both, and one of them
//     whenever Ready is not True and the object is not paused.
//
// The vocabulary is that of kstatus, so that "kubectl wait", Flux, Argo CD and Helm understand it.
package status

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Condition types that every kind has.
const (
	// Ready is the summary of all other conditions.
	Ready = "Ready"
	// Reconciling is True while Windlass works towards the spec.
	Reconciling = "Reconciling"
	// Stalled is True when Windlass cannot go on without a change of the spec or of the environment.
	Stalled = "Stalled"
	// Paused is True while the annotation windlass.io/paused stops Windlass.
	Paused = "Paused"
)

// Reasons that every kind uses.
const (
	// ReasonReady says that everything is as the spec wants it.
	ReasonReady = "Ready"
	// ReasonNotObserved says that a pass ended before it could observe this.
	ReasonNotObserved = "NotObserved"
	// ReasonIdle says that there is nothing to do.
	ReasonIdle = "Idle"
	// ReasonNotStalled says that nothing blocks progress.
	ReasonNotStalled = "NotStalled"
	// ReasonPaused says that the annotation windlass.io/paused is set.
	ReasonPaused = "Paused"
	// ReasonNotPaused says that the annotation windlass.io/paused is absent or "false".
	ReasonNotPaused = "NotPaused"
	// ReasonTerminating says that the namespace of the object is being deleted.
	ReasonTerminating = "Terminating"
	// ReasonError says that a pass failed and is tried again.
	ReasonError = "Error"
)

// maxMessage bounds a message, well below the 32 KiB that the API allows, so that an object stays readable.
const maxMessage = 1024

// notObserved is the message of a condition that the pass did not reach.
const notObserved = "Windlass could not look at this: the conditions Reconciling and Stalled say why"

// Object is a kind of Windlass.
type Object interface {
	client.Object

	// GetConditions returns the conditions in the status.
	GetConditions() []metav1.Condition
	// SetConditions replaces the conditions in the status.
	SetConditions(conditions []metav1.Condition)
	// SetObservedGeneration records the generation of the spec that the status describes.
	SetObservedGeneration(generation int64)
}

// Declaration names the conditions of a kind that Ready depends on, the most specific first.
type Declaration []Declared

// Declared is one condition of a kind.
type Declared struct {
	// Type is the condition's type.
	Type string
	// Negative is true for a condition that is bad when True, as in Conflicted.
	Negative bool
	// Info is true for a condition that is shown but does not affect Ready.
	Info bool
}

// Marks collects what a pass observed. Its zero value is not usable: see Declaration.Begin.
type Marks struct {
	declared Declaration
	marks    map[string]metav1.Condition
	stalled  *metav1.Condition
	working  *metav1.Condition
	reached  *metav1.Condition
	paused   string // the message of the condition Paused, empty for an object that is not
}

// Begin returns empty marks for a pass.
func (d Declaration) Begin() *Marks {
	return &Marks{declared: d, marks: make(map[string]metav1.Condition, len(d))}
}

// True marks a condition True.
func (m *Marks) True(conditionType, reason, message string) {
	m.mark(conditionType, metav1.ConditionTrue, reason, message)
}

// False marks a condition False.
func (m *Marks) False(conditionType, reason, message string) {
	m.mark(conditionType, metav1.ConditionFalse, reason, message)
}

// Unknown marks a condition Unknown.
func (m *Marks) Unknown(conditionType, reason, message string) {
	m.mark(conditionType, metav1.ConditionUnknown, reason, message)
}

// Unobserved marks a condition Unknown that the pass did not reach, with the reason that an earlier pass had.
func (m *Marks) Unobserved(conditionType, reason string) {
	m.Unknown(conditionType, reason, notObserved)
}

// Stall says that the pass cannot get past something without a change of the spec or of the environment.
func (m *Marks) Stall(reason, message string) {
	m.stalled = &metav1.Condition{Reason: reason, Message: Clip(message, maxMessage)}
}

// Work says that the pass left work to be done, also where no declared condition shows it.
func (m *Marks) Work(reason, message string) {
	m.working = &metav1.Condition{Reason: reason, Message: Clip(message, maxMessage)}
}

// Reach says what Ready reports if nothing keeps it from being True. The reason is ReasonReady, or one that says why there is nothing to
// be seen of a healthy object. The message must be the same until what it describes changes, because each new one is a write.
func (m *Marks) Reach(reason, message string) {
	m.reached = &metav1.Condition{Reason: reason, Message: Clip(message, maxMessage)}
}

// Pause says that the object is paused. Its annotation says for how long.
func (m *Marks) Pause(obj client.Object) { m.paused = pausedMessage(obj) }

func (m *Marks) mark(conditionType string, value metav1.ConditionStatus, reason, message string) {
	m.marks[conditionType] = metav1.Condition{
		Type: conditionType, Status: value, Reason: reason, Message: Clip(message, maxMessage),
	}
}

// Apply writes the conditions that follow from the marks into obj: every declared one and Ready, Reconciling, Stalled and
// Paused, sorted by type with Ready first. A condition keeps its transition time unless its status changed; a condition
// that is no longer declared is dropped.
func (m *Marks) Apply(obj Object, now time.Time) {
	conditions := make([]metav1.Condition, 0, len(m.declared)+4)
	for _, declared := range m.declared {
		condition, ok := m.marks[declared.Type]
		if !ok {
			condition = metav1.Condition{
				Type: declared.Type, Status: metav1.ConditionUnknown, Reason: ReasonNotObserved, Message: notObserved,
			}
		}
		conditions = append(conditions, condition)
	}
	conditions = append(conditions, m.summary(conditions)...)

	previous := obj.GetConditions()
	for i := range conditions {
		conditions[i].ObservedGeneration = obj.GetGeneration()
		conditions[i].LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
		before := meta.FindStatusCondition(previous, conditions[i].Type)
		if before != nil && before.Status == conditions[i].Status && !isDefault(before) {
			conditions[i].LastTransitionTime = before.LastTransitionTime
		}
	}
	slices.SortFunc(conditions, readyFirst)
	obj.SetConditions(conditions)
	obj.SetObservedGeneration(obj.GetGeneration())
}

// summary returns Ready, Reconciling, Stalled and Paused.
func (m *Marks) summary(conditions []metav1.Condition) []metav1.Condition {
	ready := metav1.Condition{Type: Ready, Status: metav1.ConditionTrue, Reason: ReasonReady}
	working := metav1.Condition{Type: Reconciling, Status: metav1.ConditionFalse, Reason: ReasonIdle}
	stalled := metav1.Condition{Type: Stalled, Status: metav1.ConditionFalse, Reason: ReasonNotStalled}
	paused := metav1.Condition{Type: Paused, Status: metav1.ConditionFalse, Reason: ReasonNotPaused}

	culprit, found := m.declared.culprit(conditions)
	switch {
	case m.stalled != nil:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, m.stalled.Reason, m.stalled.Message
	case found:
		ready.Status, ready.Reason, ready.Message = culprit.Status, culprit.Reason, culprit.Message
	case m.working != nil:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, m.working.Reason, m.working.Message
	case m.reached != nil:
		ready.Reason, ready.Message = m.reached.Reason, m.reached.Message
	}

	switch {
	case m.paused != "":
		paused.Status, paused.Reason, paused.Message = metav1.ConditionTrue, ReasonPaused, m.paused
	case m.stalled != nil:
		stalled.Status, stalled.Reason, stalled.Message = metav1.ConditionTrue, m.stalled.Reason, m.stalled.Message
	case m.working != nil:
		working.Status, working.Reason, working.Message = metav1.ConditionTrue, m.working.Reason, m.working.Message
	case ready.Status != metav1.ConditionTrue:
		working.Status, working.Reason, working.Message = metav1.ConditionTrue, ready.Reason, ready.Message
	}
	return []metav1.Condition{ready, working, stalled, paused}
}

// culprit returns the first condition that keeps Ready from being True, as the value Ready has to take: a condition that
// is plainly wrong before one that is unknown.
func (d Declaration) culprit(conditions []metav1.Condition) (metav1.Condition, bool) {
	var unknown *metav1.Condition
	for i, declared := range d {
		condition := conditions[i]
		wrong := metav1.ConditionFalse
		if declared.Negative {
			wrong = metav1.ConditionTrue
		}
		switch {
		case declared.Info:
		case condition.Status == wrong:
			condition.Status = metav1.ConditionFalse
			return condition, true
		case condition.Status == metav1.ConditionUnknown && unknown == nil:
			unknown = &condition
		}
	}
	if unknown == nil {
		return metav1.Condition{}, false
	}
	return *unknown, true
}

func readyFirst(a, b metav1.Condition) int {
	if a.Type == Ready || b.Type == Ready {
		return boolToInt(b.Type == Ready) - boolToInt(a.Type == Ready)
	}
	return strings.Compare(a.Type, b.Type)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
