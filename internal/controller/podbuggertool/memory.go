// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
)

// memory is what passes hand on to each other: what was refused, so that a tool that is woken up by its pods does not send it with
// each of them, and what failed, so that other pods come first. Nothing is lost with it: after a restart each refused write is sent once more.
type memory struct {
	mu sync.Mutex
	// refusals holds the API server's answers of each tool.
	refusals map[client.ObjectKey]map[attempt]refusal
	// failures says for each tool when the last write to a pod failed that may succeed another time.
	failures map[client.ObjectKey]map[types.UID]time.Time
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

// maxPassedOver bounds how many pods of a tool are passed over: a namespace in which all refuse it is not asked pod by pod.
const maxPassedOver = appsv1alpha1.MaxPodTools

// passedOver returns the answers of the pods that have refused the container, which leave their places to others as long as the answers hold. A right
// that Windlass itself lacks is no matter of the pod: the next one would refuse as well.
func (m *memory) passedOver(tool client.ObjectKey, container string, now time.Time) map[types.UID]error {
	m.mu.Lock()
	defer m.mu.Unlock()
	pods := make(map[types.UID]error)
	for tried, last := range m.refusals[tool] {
		if tried.container == container && now.Before(last.until) && flow.Recheck(last.err) == flow.RecheckStalled {
			pods[tried.pod] = last.err
		}
	}
	if len(pods) > maxPassedOver {
		return nil
	}
	return pods
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
	m.refusals[tool][attempt{pod: pod, container: container}] = refusal{err: err, until: now.Add(flow.Recheck(err))}
}

// failed remembers a write that failed, until one succeeds.
func (m *memory) failed(tool client.ObjectKey, pod types.UID, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failures == nil {
		m.failures = make(map[client.ObjectKey]map[types.UID]time.Time)
	}
	if m.failures[tool] == nil {
		m.failures[tool] = make(map[types.UID]time.Time)
	}
	m.failures[tool][pod] = now
}

// succeeded forgets that writes to the pod failed.
func (m *memory) succeeded(tool client.ObjectKey, pod types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.failures[tool], pod)
}

// hasFailed reports whether the last write to the pod failed.
func (m *memory) hasFailed(tool client.ObjectKey, pod types.UID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, failed := m.failures[tool][pod]
	return failed
}

// inOrder returns the writes of a pass with those last that have failed, and of these the latest at the end: as long as it fails, no write comes before
// another one in every pass.
func (m *memory) inOrder(tool client.ObjectKey, steps []install) []install {
	m.mu.Lock()
	defer m.mu.Unlock()
	failures := m.failures[tool]
	if len(failures) == 0 {
		return steps
	}
	return slices.SortedStableFunc(slices.Values(steps), func(a, b install) int {
		return failures[a.pod.UID].Compare(failures[b.pod.UID])
	})
}

// keepOnly forgets what was refused by pods that no longer match the tool, and what failed with them.
func (m *memory) keepOnly(tool client.ObjectKey, pods []*corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.refusals[tool])+len(m.failures[tool]) == 0 {
		return
	}
	match := make(map[types.UID]bool, len(pods))
	for _, pod := range pods {
		match[pod.UID] = true
	}
	maps.DeleteFunc(m.refusals[tool], func(tried attempt, _ refusal) bool { return !match[tried.pod] })
	maps.DeleteFunc(m.failures[tool], func(pod types.UID, _ time.Time) bool { return !match[pod] })
}

// forgetTool drops what is kept of a tool that is gone.
func (m *memory) forgetTool(tool client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.refusals, tool)
	delete(m.failures, tool)
}
