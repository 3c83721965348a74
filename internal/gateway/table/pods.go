// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podCells returns what a table shows of a Pod.
func podCells(pod *corev1.Pod) []cell {
	seen := look(pod)
	restarts := strconv.Itoa(seen.restarts)
	restartsCell := value(restarts)
	if seen.restarts != 0 && !seen.lastRestart.IsZero() {
		restartsCell = ago(restarts+" (", seen.lastRestart.Time, " ago)")
	}
	ip := ""
	if len(pod.Status.PodIPs) > 0 {
		ip = pod.Status.PodIPs[0].IP
	}
	return []cell{
		value(pod.Name), value(fmt.Sprintf("%d/%d", seen.ready, seen.total)), value(seen.status), restartsCell, age(pod.CreationTimestamp.Time),
		text(ip, none), text(pod.Spec.NodeName, none), text(pod.Status.NominatedNodeName, none), text(readinessGates(pod), none),
	}
}

// podLook is what the containers of a pod add up to.
type podLook struct {
	status       string
	ready, total int
	restarts     int
	lastRestart  metav1.Time
}

// look sums a pod up: first by its phase, then by the first init container that is not done, and otherwise by its containers.
func look(pod *corev1.Pod) podLook {
	out := podLook{status: string(pod.Status.Phase), total: len(pod.Spec.Containers)}
	if pod.Status.Reason != "" {
		out.status = pod.Status.Reason
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated {
			out.status = corev1.PodReasonSchedulingGated
		}
	}
	sidecars := map[string]bool{}
	for i := range pod.Spec.InitContainers {
		if container := &pod.Spec.InitContainers[i]; restarts(container) {
			sidecars[container.Name] = true
			out.total++
		}
	}
	ofSidecars, initializing := out.lookAtInit(pod, sidecars)
	if !initializing || isTrue(pod, corev1.PodInitialized) {
		out.restarts, out.lastRestart = ofSidecars.restarts, ofSidecars.lastRestart
		out.lookAtContainers(pod)
	}
	switch {
	case pod.DeletionTimestamp == nil:
	case pod.Status.Reason == reasonNodeLost:
		out.status = string(corev1.PodUnknown)
	case pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed:
		out.status = "Terminating"
	}
	return out
}

// reasonNodeLost is the reason of a pod whose node does not answer.
const reasonNodeLost = "NodeLost"

// restarts reports whether an init container is a sidecar, which runs beside the containers.
func restarts(container *corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func isTrue(pod *corev1.Pod, condition corev1.PodConditionType) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == condition {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// count adds the restarts of a container.
func (l *podLook) count(of *corev1.ContainerStatus) {
	l.restarts += int(of.RestartCount)
	if last := of.LastTerminationState.Terminated; last != nil && l.lastRestart.Before(&last.FinishedAt) {
		l.lastRestart = last.FinishedAt
	}
}

// lookAtInit looks for the first init container that is not done. It returns the restarts of the sidecars before it.
func (l *podLook) lookAtInit(pod *corev1.Pod, sidecars map[string]bool) (ofSidecars podLook, initializing bool) {
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		l.count(status)
		sidecar := sidecars[status.Name]
		if sidecar {
			ofSidecars.count(status)
		}
		ended, waiting := status.State.Terminated, status.State.Waiting
		switch {
		case ended != nil && ended.ExitCode == 0:
			continue
		case sidecar && status.Started != nil && *status.Started:
			if status.Ready {
				l.ready++
			}
			continue
		case ended != nil:
			l.status = "Init:" + endOf(ended)
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
			l.status = "Init:" + waiting.Reason
		default:
			l.status = fmt.Sprintf("Init:%d/%d", i, len(pod.Spec.InitContainers))
		}
		return ofSidecars, true
	}
	return ofSidecars, false
}

// lookAtContainers lets the first container that is in trouble say what the pod does.
func (l *podLook) lookAtContainers(pod *corev1.Pod) {
	running, failed := false, ""
	for i := len(pod.Status.ContainerStatuses) - 1; i >= 0; i-- {
		status := &pod.Status.ContainerStatuses[i]
		l.count(status)
		ended, waiting := status.State.Terminated, status.State.Waiting
		switch {
		case waiting != nil && waiting.Reason != "":
			l.status = waiting.Reason
		case ended != nil:
			l.status = endOf(ended)
			if ended.ExitCode != 0 {
				failed = l.status
			}
		case status.Ready && status.State.Running != nil:
			running = true
			l.ready++
		}
	}
	switch { // a pod is not done because one of its containers is
	case l.status != "Completed":
	case running && isTrue(pod, corev1.PodReady):
		l.status = string(corev1.PodRunning)
	case failed != "":
		l.status = failed
	case running:
		l.status = "NotReady"
	}
}

// endOf says why a container has ended.
func endOf(ended *corev1.ContainerStateTerminated) string {
	switch {
	case ended.Reason != "":
		return ended.Reason
	case ended.Signal != 0:
		return fmt.Sprintf("Signal:%d", ended.Signal)
	default:
		return fmt.Sprintf("ExitCode:%d", ended.ExitCode)
	}
}

// readinessGates says how many gates are open, empty for a pod without any.
func readinessGates(pod *corev1.Pod) string {
	if len(pod.Spec.ReadinessGates) == 0 {
		return ""
	}
	open := 0
	for _, gate := range pod.Spec.ReadinessGates {
		if isTrue(pod, gate.ConditionType) {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, len(pod.Spec.ReadinessGates))
}

// eventCells returns what a table shows of an Event.
func eventCells(event *corev1.Event) []cell {
	first := event.FirstTimestamp.Time
	if first.IsZero() {
		first = event.EventTime.Time
	}
	last := event.LastTimestamp.Time
	if last.IsZero() {
		last = first
	}
	count := event.Count
	switch {
	case event.Series != nil:
		last, count = event.Series.LastObservedTime.Time, event.Series.Count
	case count == 0:
		count = 1 // an event of the newer API that has happened once
	}
	about := strings.ToLower(event.InvolvedObject.Kind)
	if event.InvolvedObject.Name != "" {
		about += "/" + event.InvolvedObject.Name
	}
	return []cell{
		age(last), value(event.Type), value(event.Reason), value(about), value(event.InvolvedObject.FieldPath), value(sourceOf(event)),
		value(strings.TrimSpace(event.Message)), age(first), value(count), value(event.Name),
	}
}

// sourceOf says who has recorded an event.
func sourceOf(event *corev1.Event) string {
	component, instance := event.Source.Component, event.Source.Host
	if component == "" {
		component = event.ReportingController
	}
	if instance == "" {
		instance = event.ReportingInstance
	}
	if instance == "" {
		return component
	}
	return component + ", " + instance
}
