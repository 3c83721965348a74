// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/status"
)

// standing is how an object stands, as a row.
type standing struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Ready is True, False or Unknown.
	Ready metav1.ConditionStatus `json:"ready"`
	// State is a word, Ready or the code of the cause, and Message a sentence.
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
	// Since is when that began, if it is known.
	Since *metav1.Time `json:"since,omitempty"`

	how mood
	of  *kind
}

func (s *standing) key() string { return s.of.plural + "/" + s.Namespace + "/" + s.Name }

// ref is how people type the object.
func (s *standing) ref() string { return s.of.singular() + "/" + s.Name }

// worstFirst orders by mood, then kind and name.
func worstFirst(a, b *standing) int {
	return cmp.Or(int(b.how)-int(a.how), a.of.rank-b.of.rank, cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// standingOf returns how an object stands.
func standingOf(k *kind, object client.Object) *standing {
	out := &standing{
		Kind: k.gvk.Kind, Namespace: object.GetNamespace(), Name: object.GetName(), Ready: metav1.ConditionUnknown, State: "Unknown",
		how: moodUnknown, of: k,
	}
	switch of := object.(type) {
	case *corev1.Node:
		out.ofNode(of)
	case *corev1.Pod:
		out.ofPod(of)
	case status.Object:
		out.ofOurs(of)
	default:
		out.ofOwner(object)
	}
	if object.GetDeletionTimestamp() != nil && out.how != moodBad {
		out.State, out.how, out.Since = "Deleting", moodBusy, object.GetDeletionTimestamp()
	}
	return out
}

// ofOurs reads the conditions. The text is that of the explanation, so that status and why say the same.
func (s *standing) ofOurs(of status.Object) {
	explanation := explained(of)
	s.Message = explanation.Summary
	ready := apimeta.FindStatusCondition(of.GetConditions(), status.Ready)
	if failure := explanation.Failure(); failure != nil {
		s.State = string(failure.Code)
	} else if ready != nil {
		s.State = ready.Reason
	}
	if ready == nil {
		return
	}
	if s.Ready = ready.Status; !status.Unwritten(of.GetConditions()) {
		s.Since = ready.LastTransitionTime.DeepCopy()
	}
	stalled := apimeta.IsStatusConditionTrue(of.GetConditions(), status.Stalled)
	switch {
	case ready.ObservedGeneration < of.GetGeneration():
		s.how = moodUnknown
	case ready.Status == metav1.ConditionTrue:
		s.how, s.State = moodGood, "Ready"
		if status.IsPaused(of) {
			s.State, s.how = "Paused", moodBusy
			if c := apimeta.FindStatusCondition(of.GetConditions(), status.Paused); c != nil {
				s.Since = c.LastTransitionTime.DeepCopy()
			}
		}
	case stalled || !apimeta.IsStatusConditionTrue(of.GetConditions(), status.Reconciling):
		s.how = moodBad
	default:
		s.how = moodBusy
	}
}

// ofOwner reads the status of what owns pods, as its explanation does.
func (s *standing) ofOwner(of client.Object) {
	explanation := explained(of)
	s.Message = explanation.Summary
	failure := explanation.Failure()
	switch job, _ := of.(*batchv1.Job); {
	case failure != nil:
		s.Ready, s.State, s.how = metav1.ConditionFalse, string(failure.Code), moodBad
		if failure.Next.Heals {
			s.how = moodBusy
		}
	case job == nil:
		s.Ready, s.State, s.how = metav1.ConditionTrue, "Ready", moodGood
	case job.Status.CompletionTime != nil:
		s.Ready, s.State, s.how, s.Since = metav1.ConditionTrue, "Completed", moodGood, job.Status.CompletionTime
	default:
		s.Ready, s.State, s.how, s.Since = metav1.ConditionTrue, "Running", moodGood, job.Status.StartTime
	}
}

func (s *standing) ofNode(node *corev1.Node) {
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		if c.Type != corev1.NodeReady {
			continue
		}
		s.Ready, s.Since = metav1.ConditionStatus(c.Status), c.LastTransitionTime.DeepCopy()
		if c.Status == corev1.ConditionTrue {
			s.State, s.how = "Ready", moodGood
		} else {
			s.State, s.how, s.Message = "NodeNotReady", moodBad, cmp.Or(c.Message, c.Reason)
		}
	}
	if s.how == moodGood && node.Spec.Unschedulable {
		s.State, s.how, s.Message = "NodeCordoned", moodBusy, "It accepts no new pods."
	}
}

func (s *standing) ofPod(pod *corev1.Pod) {
	s.State, s.how = string(pod.Status.Phase), moodBusy
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		switch {
		case c.Type == corev1.PodReady:
			s.Ready, s.Since = metav1.ConditionStatus(c.Status), c.LastTransitionTime.DeepCopy()
			if c.Status == corev1.ConditionTrue {
				s.State, s.how = "Ready", moodGood
			}
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse:
			s.State, s.Message, s.how = c.Reason, c.Message, moodBad
		}
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if waiting := statuses[i].State.Waiting; waiting != nil && waiting.Message != "" {
				s.State, s.Message, s.how = waiting.Reason, waiting.Message, moodBad
			}
		}
	}
	switch pod.Status.Phase {
	case corev1.PodSucceeded:
		s.how = moodGood
	case corev1.PodFailed:
		s.how, s.Message = moodBad, cmp.Or(pod.Status.Message, pod.Status.Reason)
	default:
	}
}

// age says how long something has lasted, as kubectl does.
func age(since *metav1.Time, now time.Time) string {
	if since.IsZero() {
		return ""
	}
	passed := max(0, now.Sub(since.Time))
	switch {
	case passed < 2*time.Minute:
		return fmt.Sprintf("%ds", int(passed.Seconds()))
	case passed < 2*time.Hour:
		return fmt.Sprintf("%dm", int(passed.Minutes()))
	case passed < 48*time.Hour:
		return fmt.Sprintf("%dh", int(passed.Hours()))
	default:
		return fmt.Sprintf("%dd", int(passed.Hours()/24))
	}
}
