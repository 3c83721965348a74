// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// podWalk explains one pod.
type podWalk struct {
	*walk

	pod    *corev1.Pod
	around *Around
	// pool is the name of the pool that the pod has chosen, empty for none.
	pool string
}

// runtimeClass checks that the RuntimeClass exists.
func (w *podWalk) runtimeClass() {
	name := w.pod.Spec.RuntimeClassName
	if name == nil {
		return
	}
	if because := w.around.Unseen[PartClass]; because != "" {
		w.skip(checkRuntimeClassExists, because)
		return
	}
	w.check(checkRuntimeClassExists, func() *finding {
		if w.around.Class != nil {
			return nil
		}
		return &finding{
			code: CodeRuntimeClassMissing, message: fmt.Sprintf("the RuntimeClass %s does not exist", *name),
			evidence: []Evidence{w.fact("spec.runtimeClassName", *name)},
		}
	})
}

// missing returns a cause that keeps pods of a pool from running.
func (w *podWalk) missing(cause *Cause, evidence ...Evidence) *finding {
	if cause == nil {
		return nil
	}
	return &finding{code: Code(cause.Reason), message: cause.Text, evidence: evidence}
}

func describeEnd(container string, ended *corev1.ContainerStateTerminated) string {
	return fmt.Sprintf("container %s ended with exit code %d (%s)", container, ended.ExitCode, cmp.Or(ended.Reason, "Error"))
}

func (w *podWalk) fact(field, value string) Evidence { return fact(kindPod, w.pod, field, value) }

// quote adds what the scheduler has said to the evidence.
func (w *podWalk) quote(evidence ...Evidence) []Evidence {
	if said := podCondition(w.pod, corev1.PodScheduled); said != nil && said.Message != "" {
		evidence = append(evidence, w.fact("status.conditions[PodScheduled]", said.Message))
	}
	return evidence
}

func podCondition(pod *corev1.Pod, wanted corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == wanted {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// waitingCode returns the code for the reason for which a container waits.
func waitingCode(reason string) Code {
	if code, known := waitingCodes()[reason]; known {
		return code
	}
	return CodeContainerStarting
}

// waitingCodes are the codes of the reasons for which a container waits that are no ordinary start.
func waitingCodes() map[string]Code {
	return map[string]Code{
		"ErrImagePull": CodeImage, "ImagePullBackOff": CodeImage, "InvalidImageName": CodeImage, "ErrImageNeverPull": CodeImage, "RegistryUnavailable": CodeImage,
		"CreateContainerConfigError": CodeContainerConfig, "CreateContainerError": CodeContainerConfig, "RunContainerError": CodeContainerConfig,
		"PostStartHookError": CodeContainerConfig, // it was ended because of what its pod asks for, and its own log says nothing of that
		"CrashLoopBackOff":   CodeCrashLoop,
	}
}

// selectorOf returns by what a pod selects nodes, as a text.
func selectorOf(pod *corev1.Pod) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(pod.Spec.NodeSelector)) {
		parts = append(parts, key+"="+pod.Spec.NodeSelector[key])
	}
	if affinity := pod.Spec.Affinity; affinity != nil && affinity.NodeAffinity != nil && affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		var terms []string
		for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			terms = append(terms, termOf(term))
		}
		parts = append(parts, "("+strings.Join(terms, " or ")+")")
	}
	return strings.Join(parts, ", ")
}

func termOf(term corev1.NodeSelectorTerm) string {
	var parts []string
	for _, r := range slices.Concat(term.MatchExpressions, term.MatchFields) {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Key, r.Operator, strings.Join(r.Values, ","))))
	}
	return strings.Join(parts, " and ")
}
