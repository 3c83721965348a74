// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
)

const (
	// maxNames is how many pods a message names.
	maxNames = 10
	// maxWords bounds what the status quotes for one pod, in bytes, as its schema says.
	maxWords = 512
)

// declaration lists the conditions that Ready depends on.
func declaration() status.Declaration {
	return status.Declaration{
		{Type: appsv1alpha1.ConditionInstalled},
		{Type: appsv1alpha1.ConditionLimited, Negative: true, Info: true},
	}
}

// describe writes what a pass has observed into the status of the tool and returns the marks of its conditions. Where the pass could
// not observe anything, the status stays and every condition is Unknown.
func describe(pass *scope, _ flow.Outcome) *status.Marks {
	marks := declaration().Begin()
	if pass.seen != nil && pass.decision.container != "" {
		report(pass)
		markInstalled(marks, pass)
		markLimited(marks, pass)
	}
	return marks
}

// report writes everything of the status except the conditions.
func report(pass *scope) {
	written := &pass.Object.Status
	written.Matched, written.Installed, written.Failed, written.Pods = int32(len(pass.decision.matched)+pass.decision.beyond), 0, 0, nil //nolint:gosec // a namespace has fewer pods
	for _, pod := range pass.decision.matched {
		line := tell(pass, pod)
		switch line.State {
		case appsv1alpha1.ToolFailed, appsv1alpha1.ToolRefused:
			written.Failed++
		case appsv1alpha1.ToolStarting, appsv1alpha1.ToolRunning, appsv1alpha1.ToolEnded:
			written.Installed++
		case appsv1alpha1.ToolWaiting, appsv1alpha1.ToolLeftOut:
		}
		written.Pods = append(written.Pods, line)
	}
	slices.SortStableFunc(written.Pods, func(a, b appsv1alpha1.PodTool) int { return cmp.Compare(urgency(a), urgency(b)) })
	written.Pods = written.Pods[:min(len(written.Pods), appsv1alpha1.MaxPodTools)]
	slices.SortFunc(written.Pods, func(a, b appsv1alpha1.PodTool) int { return strings.Compare(a.Name, b.Name) })
}

// urgency orders what a short list has to show first.
func urgency(line appsv1alpha1.PodTool) int {
	switch line.State {
	case appsv1alpha1.ToolRefused, appsv1alpha1.ToolFailed:
		return 0
	case appsv1alpha1.ToolStarting, appsv1alpha1.ToolRunning, appsv1alpha1.ToolEnded:
		return 1
	case appsv1alpha1.ToolWaiting:
		return 2
	case appsv1alpha1.ToolLeftOut:
	}
	return 3
}

// tell says how far one pod is.
func tell(pass *scope, pod *corev1.Pod) appsv1alpha1.PodTool {
	line := appsv1alpha1.PodTool{Name: pod.Name}
	if err := pass.refused[pod.Name]; err != nil {
		line.State, line.Message = appsv1alpha1.ToolRefused, status.Clip(err.Error(), maxWords)
		return line
	}
	if !carries(pod, pass.decision.container) {
		line.State = appsv1alpha1.ToolWaiting
		if pass.decision.leftOut[pod.Name] {
			line.State = appsv1alpha1.ToolLeftOut
		}
		return line
	}
	line.Container = pass.decision.container
	line.State, line.Message = stateOf(pod, line.Container)
	return line
}

// stateOf returns the state of the container on its node, and why it is in that state.
func stateOf(pod *corev1.Pod, container string) (appsv1alpha1.ToolState, string) {
	for i := range pod.Status.EphemeralContainerStatuses {
		if pod.Status.EphemeralContainerStatuses[i].Name != container {
			continue
		}
		state := pod.Status.EphemeralContainerStatuses[i].State
		switch {
		case state.Running != nil:
			return appsv1alpha1.ToolRunning, ""
		case state.Terminated != nil && hasRun(state.Terminated):
			return appsv1alpha1.ToolEnded, fmt.Sprintf("exit code %d", state.Terminated.ExitCode)
		case state.Terminated != nil:
			return appsv1alpha1.ToolFailed, words(state.Terminated.Reason, state.Terminated.Message)
		case state.Waiting != nil && !isStarting(state.Waiting.Reason):
			return appsv1alpha1.ToolFailed, words(state.Waiting.Reason, state.Waiting.Message)
		}
	}
	return appsv1alpha1.ToolStarting, ""
}

// hasRun tells a container that ended from one that could not be started: the kubelet reports both as terminated.
func hasRun(ended *corev1.ContainerStateTerminated) bool {
	return ended.Reason != "StartError" && ended.Reason != "ContainerCannotRun"
}

// isStarting reports whether a waiting container is on its way.
func isStarting(reason string) bool {
	return reason == "" || reason == "ContainerCreating" || reason == "PodInitializing"
}

func words(reason, message string) string {
	if message == "" {
		return reason
	}
	return status.Clip(reason+": "+message, maxWords)
}

// in returns the names of pods in one of the states, in the order of their age, and the first message among them.
func (s *scope) in(states ...appsv1alpha1.ToolState) (names []string, message string) {
	for _, pod := range s.decision.matched {
		line := tell(s, pod)
		if slices.Contains(states, line.State) {
			names = append(names, line.Name)
			if message == "" {
				message = line.Message
			}
		}
	}
	return names, message
}

func markInstalled(marks *status.Marks, pass *scope) {
	outcome := missing(pass)
	switch has, _ := pass.in(appsv1alpha1.ToolStarting, appsv1alpha1.ToolRunning, appsv1alpha1.ToolEnded); {
	case !outcome.IsDone():
		marks.False(appsv1alpha1.ConditionInstalled, outcome.Reason(), outcome.Message())
	case len(pass.decision.matched) == 0:
		message := "no pod in the namespace matches " + searched(pass.Object)
		marks.True(appsv1alpha1.ConditionInstalled, appsv1alpha1.ReasonNoPodMatches, message)
		marks.Reach(appsv1alpha1.ReasonNoPodMatches, message)
	default:
		message := fmt.Sprintf("%s the container %q", have(len(has)), pass.decision.container)
		marks.True(appsv1alpha1.ConditionInstalled, appsv1alpha1.ReasonToolInstalled, message)
		marks.Reach(status.ReasonReady, message)
	}
}

// searched says which pods the tool is for, as kubectl takes it after --selector.
func searched(tool *appsv1alpha1.PodBuggerTool) string {
	if tool.Spec.Label != "" {
		return tool.Spec.Label
	}
	return metav1.FormatLabelSelector(tool.Spec.Selector)
}

func markLimited(marks *status.Marks, pass *scope) {
	if left := len(pass.decision.leftOut) + pass.decision.beyond; left > 0 {
		marks.True(appsv1alpha1.ConditionLimited, appsv1alpha1.ReasonMaxPodsReached,
			fmt.Sprintf("%s left out because spec.maxPods is %d", are(left), pass.Object.Spec.MaxPods))
		return
	}
	marks.False(appsv1alpha1.ConditionLimited, appsv1alpha1.ReasonWithinLimit, "")
}

// missing says what keeps the tool out of pods that should have it. What only a person can change comes first.
func missing(pass *scope) flow.Outcome {
	if names, _ := pass.in(appsv1alpha1.ToolRefused); len(names) > 0 {
		// The error itself decides when to look again. If pods were refused for several reasons, the one that may end first does.
		soonest := slices.MinFunc(names, func(a, b string) int {
			return cmp.Compare(flow.Recheck(pass.refused[a]), flow.Recheck(pass.refused[b]))
		})
		return flow.Stall(appsv1alpha1.ReasonToolRefused,
			fmt.Errorf("the API server rejected the tool in %s: %w", list(names), pass.refused[soonest]))
	}
	if names, message := pass.in(appsv1alpha1.ToolFailed); len(names) > 0 {
		return flow.Wait(appsv1alpha1.ReasonToolFailed, fmt.Sprintf("the container to run in %s: %s", list(names), message), 0)
	}
	var lacking []string
	for _, step := range pass.decision.installs {
		if !carries(step.pod, pass.decision.container) {
			lacking = append(lacking, step.pod.Name)
		}
	}
	if len(lacking) > 0 {
		return flow.Wait(appsv1alpha1.ReasonInstalling, "the tool to be installed in "+list(lacking), 0)
	}
	if awaited := pass.decision.awaitedNames(); len(awaited) > 0 {
		return flow.Wait(appsv1alpha1.ReasonWaitingForPods, list(awaited)+" to run", 0)
	}
	return flow.Done()
}

// awaitedNames returns the names of the pods that do not run yet, the oldest first.
func (d decision) awaitedNames() []string {
	var names []string
	for _, pod := range d.matched {
		if d.awaited[pod.Name] {
			names = append(names, pod.Name)
		}
	}
	return names
}

// list names at most ten pods, sorted, and counts the others.
func list(names []string) string {
	names = slices.Sorted(slices.Values(names))
	if len(names) == 1 {
		return "pod " + names[0]
	}
	if len(names) <= maxNames {
		return fmt.Sprintf("%d pods (%s)", len(names), strings.Join(names, ", "))
	}
	return fmt.Sprintf("%d pods (%s and %d more)", len(names), strings.Join(names[:maxNames], ", "), len(names)-maxNames)
}

func have(n int) string {
	if n == 1 {
		return "1 pod has"
	}
	return fmt.Sprintf("%d pods have", n)
}

func are(n int) string {
	if n == 1 {
		return "1 matching pod is"
	}
	return fmt.Sprintf("%d matching pods are", n)
}
