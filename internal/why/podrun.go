// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// running makes the checks of a pod that has a node.
func (w *podWalk) running() {
	w.node()
	w.runtimeClass()
	w.check(checkPodPrepared, w.unprepared)
	w.check(checkContainersStarted, w.containers)
	w.check(checkContainersReady, w.readiness)
}

// node checks the node of the pod.
func (w *podWalk) node() {
	if because := w.around.Unseen[PartNodes]; because != "" {
		w.skip(checkNodeOfPodExists, because)
		return
	}
	name := w.pod.Spec.NodeName
	at := slices.IndexFunc(w.around.Nodes, func(node *corev1.Node) bool { return node.Name == name })
	w.check(checkNodeOfPodExists, func() *finding {
		if at >= 0 {
			return nil
		}
		return &finding{code: CodeNodeGone, message: fmt.Sprintf("node %s does not exist", name), evidence: []Evidence{w.fact("spec.nodeName", name)}}
	})
	if at < 0 {
		return
	}
	node := w.around.Nodes[at]
	w.names = w.names.with(onNode(node.Name))
	w.check(checkNodeReady, func() *finding {
		if isReady(node) {
			return nil
		}
		return &finding{code: CodeNodeNotReady, message: unready(node), evidence: []Evidence{notReady(node)}}
	})
	if w.around.Class == nil {
		return
	}
	w.check(checkNodeHasHandler, func() *finding {
		if !lacksHandler(node, w.around.Class.Handler) {
			return nil
		}
		return &finding{
			code: CodeHandlerMissing, message: fmt.Sprintf("node %s lacks the handler %s of RuntimeClass %s", node.Name, w.around.Class.Handler, w.around.Class.Name),
			evidence: []Evidence{fact(kindNode, node, "status.runtimeHandlers", handlersOf(node)), fact("RuntimeClass", w.around.Class, "handler", w.around.Class.Handler)},
		}
	})
}

func handlersOf(node *corev1.Node) string {
	var names []string
	for _, h := range node.Status.RuntimeHandlers {
		if h.Name != "" {
			names = append(names, h.Name)
		}
	}
	return fmt.Sprint(names)
}

// containers looks for a container that does not run, in the order in which the kubelet starts them: none begins before the init containers before it are
// done with their part, so the first one that is not is the cause.
func (w *podWalk) containers() *finding {
	for i := range w.pod.Status.InitContainerStatuses {
		of := &w.pod.Status.InitContainerStatuses[i]
		if found := cmp.Or(w.container("initContainerStatuses", of), w.preparing(of)); found != nil {
			return found
		}
	}
	for i := range w.pod.Status.ContainerStatuses {
		if found := w.container("containerStatuses", &w.pod.Status.ContainerStatuses[i]); found != nil {
			return found
		}
	}
	if len(w.pod.Status.ContainerStatuses) == 0 {
		return &finding{
			code: CodeContainerStarting, message: fmt.Sprintf("node %s has not reported the containers of the pod yet", w.pod.Spec.NodeName),
			evidence: []Evidence{w.fact("status.phase", string(w.pod.Status.Phase))},
		}
	}
	return nil
}

// preparing is the cause while an init container runs: those after it wait for its end. A sidecar goes on running, and they wait only until it has started, which its
// startup probe decides.
func (w *podWalk) preparing(of *corev1.ContainerStatus) *finding {
	if of.State.Running == nil {
		return nil
	}
	field := fmt.Sprintf("status.initContainerStatuses[%s].", of.Name)
	found := &finding{code: CodeInitRuns, names: names{"container": of.Name}}
	switch {
	case !w.isSidecar(of.Name):
		found.message = fmt.Sprintf("the containers wait for the init container %s, which has not ended", of.Name)
		found.evidence = []Evidence{w.fact(field+"state", "running")}
	case of.Started != nil && !*of.Started:
		found.message = fmt.Sprintf("the containers wait for the sidecar %s, whose startup probe has not succeeded yet", of.Name)
		found.evidence = []Evidence{w.fact(field+"started", "false")}
	default:
		return nil
	}
	return found
}

func (w *podWalk) isSidecar(name string) bool {
	return slices.ContainsFunc(w.pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// container looks at the status of a container in a list of the status.
func (w *podWalk) container(list string, of *corev1.ContainerStatus) *finding {
	field := fmt.Sprintf("status.%s[%s].state", list, of.Name)
	// The run that has ended is the one before only where the next one has been made.
	more := names{"container": of.Name, "previous": ""}
	switch state := of.State; {
	case state.Waiting != nil:
		if of.LastTerminationState.Terminated != nil {
			more["previous"] = " --previous"
		}
		code := waitingCode(state.Waiting.Reason)
		message := fmt.Sprintf("container %s waits: %s", of.Name, state.Waiting.Reason)
		if ended := of.LastTerminationState.Terminated; code == CodeCrashLoop && ended != nil && neverRan(ended) {
			code, message = CodeContainerConfig, fmt.Sprintf("container %s cannot be started: %s", of.Name, cmp.Or(ended.Message, ended.Reason))
		} else if code == CodeCrashLoop && ended != nil {
			message = describeEnd(of.Name, ended) + fmt.Sprintf(" and is started again after a pause; it was restarted %d times", of.RestartCount)
		} else if state.Waiting.Message != "" {
			message += ": " + state.Waiting.Message
		}
		return &finding{code: code, message: message, names: more, evidence: []Evidence{w.fact(field, "waiting, "+state.Waiting.Reason)}}
	case state.Terminated != nil && neverRan(state.Terminated):
		return &finding{
			code: CodeContainerConfig, message: fmt.Sprintf("container %s cannot be started: %s", of.Name, cmp.Or(state.Terminated.Message, state.Terminated.Reason)), names: more,
			evidence: []Evidence{w.fact(field, "terminated, "+state.Terminated.Reason)},
		}
	case state.Terminated != nil && state.Terminated.ExitCode != 0:
		return &finding{
			code: CodeCrashLoop, message: describeEnd(of.Name, state.Terminated), names: more,
			evidence: []Evidence{w.fact(field, fmt.Sprintf("terminated, exit code %d", state.Terminated.ExitCode))},
		}
	}
	return nil
}

// neverRan reports whether the program of the container could not even be started: it has no log that tells why, its runtime does.
func neverRan(ended *corev1.ContainerStateTerminated) bool {
	return ended.Reason == "StartError" || ended.Reason == "ContainerCannotRun"
}

// readiness looks for a container that runs and is not ready.
func (w *podWalk) readiness() *finding {
	for i := range w.pod.Status.ContainerStatuses {
		of := &w.pod.Status.ContainerStatuses[i]
		if of.State.Running != nil && !of.Ready {
			return &finding{
				code: CodeNotReady, message: fmt.Sprintf("container %s runs and is not ready", of.Name), names: names{"container": of.Name},
				evidence: []Evidence{w.fact(fmt.Sprintf("status.containerStatuses[%s].ready", of.Name), "false")},
			}
		}
	}
	if c := podCondition(w.pod, corev1.PodReady); c != nil && c.Status != corev1.ConditionTrue {
		return &finding{
			code: CodePodNotReady, message: fmt.Sprintf("pod %s is not ready: %s %s", w.pod.Name, c.Reason, c.Message),
			evidence: []Evidence{w.fact("status.conditions[Ready]", string(c.Status))},
		}
	}
	return nil
}
