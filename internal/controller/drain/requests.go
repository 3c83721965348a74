// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/clearance"
)

// requests remembers, for each drain that may ask for pods, which pods were there when it first could, and whether it has asked for them. A drain that
// rests while its pool is paused is forgotten, and so is everything with the process: then it asks for all of them once more, also after its time. Pods
// that come later hold up no drain. The zero value knows of no drain.
type requests struct {
	mu sync.Mutex
	of map[string]map[clearance.Drain]map[types.UID]bool // by node
}

// keep forgets all drains of the node but these, begins with those that are new, and tells each what it has asked for.
func (r *requests) keep(node string, drains []drain, pods []corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, after := r.of[node], map[clearance.Drain]map[types.UID]bool{}
	for i := range drains {
		d := &drains[i]
		known, begun := before[d.key()]
		if !begun {
			known = unasked(d.podsToEnd(pods))
		}
		after[d.key()], d.asked = known, known
	}
	delete(r.of, node)
	if len(after) == 0 {
		return
	}
	if r.of == nil {
		r.of = map[string]map[clearance.Drain]map[types.UID]bool{}
	}
	r.of[node] = after
}

// unasked returns what is remembered of pods before anybody has asked for them.
func unasked(pods []*corev1.Pod) map[types.UID]bool {
	out := make(map[types.UID]bool, len(pods))
	for _, pod := range pods {
		out[pod.UID] = false
	}
	return out
}
