// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/flow"
)

// memory is what passes hand on to each other: what was written and is not in the cache yet, so that a place under maxPods
// is not given away twice, and what was refused, so that a tool that is woken up by its pods does not send it with each of
// them. Nothing is lost with it: after a restart the cache is fresh, and each refused write is sent once more.
type memory struct {
	mu sync.Mutex
	// written holds, by namespace, the containers of pods whose cached state may be older than the write.
	written map[string]map[types.UID][]corev1.EphemeralContainer
	// refusals holds the API server's answers of each tool.
	refusals map[client.ObjectKey]map[attempt]refusal
}

// attempt identifies a write.
type attempt struct {
	pod       types.UID
	container string
}

// refusal is the answer to a refused write, and how long it is taken for true.
type refusal struct {
	err   error
	until time.Time
}

// wrote remembers what was written.
func (m *memory) wrote(pod *corev1.Pod, containers []corev1.EphemeralContainer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.written == nil {
		m.written = make(map[string]map[types.UID][]corev1.EphemeralContainer)
	}
	if m.written[pod.Namespace] == nil {
		m.written[pod.Namespace] = make(map[types.UID][]corev1.EphemeralContainer)
	}
	m.written[pod.Namespace][pod.UID] = append(m.written[pod.Namespace][pod.UID], containers...)
}

// complete returns copies of all pods of the namespace with what was written to them, and forgets what the cache has caught up with:
// a pod with all that was written, and one that is gone.
func (m *memory) complete(namespace string, cached []corev1.Pod) []*corev1.Pod {
	m.mu.Lock()
	defer m.mu.Unlock()
	written, ahead := m.written[namespace], make(map[types.UID][]corev1.EphemeralContainer)
	pods := make([]*corev1.Pod, 0, len(cached))
	for i := range cached {
		pod := cached[i]
		pod.Spec.EphemeralContainers = slices.Clone(pod.Spec.EphemeralContainers)
		missing := slices.DeleteFunc(slices.Clone(written[pod.UID]), func(c corev1.EphemeralContainer) bool {
			return carries(&pod, c.Name)
		})
		if len(missing) > 0 {
			ahead[pod.UID] = missing
			pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, missing...)
		}
		pods = append(pods, &pod)
	}
	if written != nil {
		m.written[namespace] = ahead
	}
	return pods
}

// refusal returns the answer that the same write got, nil where it has to be made: it is new, or the answer is so old that
// something else, such as a right or a namespace's label, may have changed.
func (m *memory) refusal(tool client.ObjectKey, pod types.UID, container string, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, ok := m.refusals[tool][attempt{pod: pod, container: container}]
	if !ok || !now.Before(last.until) {
		return nil
	}
	return last.err
}

// refused remembers a rejected write until a stalled tool is checked again.
func (m *memory) refused(tool client.ObjectKey, pod types.UID, container string, err error, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refusals == nil {
		m.refusals = make(map[client.ObjectKey]map[attempt]refusal)
	}
	if m.refusals[tool] == nil {
		m.refusals[tool] = make(map[attempt]refusal)
	}
	m.refusals[tool][attempt{pod: pod, container: container}] = refusal{err: err, until: now.Add(flow.RecheckStalled)}
}

// keepOnly forgets what was refused by pods that no longer match the tool.
func (m *memory) keepOnly(tool client.ObjectKey, pods []*corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for tried := range m.refusals[tool] {
		if !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return pod.UID == tried.pod }) {
			delete(m.refusals[tool], tried)
		}
	}
}

// forgetTool drops the answers to a tool that is gone.
func (m *memory) forgetTool(tool client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.refusals, tool)
}

// forgetPods drops what was written to the pods of a namespace without tools.
func (m *memory) forgetPods(namespace string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.written, namespace)
}
