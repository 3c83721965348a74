// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// unprepared is the cause if the kubelet says why no container can be created. No field of the pod has that, only its events. An event tells of
// the past: it counts if it is the newest, and no container has been created since.
func (w *podWalk) unprepared() *finding {
	begun := func(c corev1.ContainerStatus) bool {
		return c.State.Waiting == nil || waitingCode(c.State.Waiting.Reason) != CodeContainerStarting
	}
	if len(w.around.Events) == 0 || slices.ContainsFunc(slices.Concat(w.pod.Status.InitContainerStatuses, w.pod.Status.ContainerStatuses), begun) {
		return nil
	}
	last := slices.MaxFunc(w.around.Events, func(a, b *corev1.Event) int {
		return cmp.Or(toldAt(a).Compare(toldAt(b)), strings.Compare(a.Name, b.Name))
	})
	found := &finding{names: onNode(w.pod.Spec.NodeName), evidence: []Evidence{fact("Event", last, "message", last.Message)}}
	switch last.Reason {
	case "FailedMount", "FailedAttachVolume", "FailedMapVolume":
		found.code, found.message = CodeVolumeNotMounted, "the kubelet cannot mount a volume of the pod: "+last.Message
	case "FailedCreatePodSandBox":
		found.code, found.message = CodeSandboxNotCreated, fmt.Sprintf("the runtime of node %s cannot make the sandbox of the pod: %s", w.pod.Spec.NodeName, last.Message)
	default:
		return nil
	}
	return found
}

// toldAt returns when an event was told last.
func toldAt(event *corev1.Event) time.Time {
	at := event.LastTimestamp.Time
	if event.Series != nil && event.Series.LastObservedTime.After(at) {
		at = event.Series.LastObservedTime.Time
	}
	if event.EventTime.After(at) {
		at = event.EventTime.Time
	}
	return at
}
