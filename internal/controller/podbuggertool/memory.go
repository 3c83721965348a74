// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/flow"
)

// memory is what passes hand on to each other: what was refused, so that a tool that is woken up by its pods does not send it with
// each of them. Nothing is lost with it: after a restart each refused write is sent once more.
type memory struct {
	mu sync.Mutex
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
	m.refusals[tool][attempt{pod: pod, container: container}] = refusal{err: err, until: now.Add(flow.Recheck(err))}
}

// keepOnly forgets what was refused by pods that no longer match the tool.
func (m *memory) keepOnly(tool client.ObjectKey, pods []*corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.refusals[tool]) == 0 {
		return
	}
	match := make(map[types.UID]bool, len(pods))
	for _, pod := range pods {
		match[pod.UID] = true
	}
	maps.DeleteFunc(m.refusals[tool], func(tried attempt, _ refusal) bool { return !match[tried.pod] })
}

// forgetTool drops the answers to a tool that is gone.
func (m *memory) forgetTool(tool client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.refusals, tool)
}
