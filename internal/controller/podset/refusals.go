// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/flow"
)

// refusals remembers which writes the API server has refused. A refused PodSet is still woken up by its pods and its
// Deployment, to keep the status true; it must not repeat a rejected write each time. Nothing else is kept
// between passes, and nothing is lost with it: after a restart, each refused write is sent once more.
type refusals struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]refusal
}

// refusal is one refused write.
type refusal struct {
	attempt attempt
	err     error
	until   time.Time
}

// attempt identifies what a pass wants to write: it follows from the spec and from what is there.
type attempt struct {
	podSet, deployment, budget version
}

// version identifies an object and its spec.
type version struct {
	uid        types.UID
	generation int64
}

// attempt returns what the pass is about to try.
func (s *scope) attempt() attempt {
	tried := attempt{podSet: versionOf(s.Object)}
	if s.seen.deployment != nil {
		tried.deployment = versionOf(s.seen.deployment)
	}
	if s.seen.budget != nil {
		tried.budget = versionOf(s.seen.budget)
	}
	return tried
}

func versionOf(object client.Object) version {
	return version{uid: object.GetUID(), generation: object.GetGeneration()}
}

// recall returns the answer that the same attempt got, nil where it has to be made: it is new, or its refusal is so old
// that something else, such as a quota or a right, may have changed.
func (r *refusals) recall(key types.NamespacedName, tried attempt, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, ok := r.byKey[key]
	if !ok || last.attempt != tried || !now.Before(last.until) {
		return nil
	}
	return last.err
}

// keep remembers a rejected attempt until a stalled object is checked again.
func (r *refusals) keep(key types.NamespacedName, tried attempt, err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byKey == nil {
		r.byKey = make(map[types.NamespacedName]refusal)
	}
	r.byKey[key] = refusal{attempt: tried, err: err, until: now.Add(flow.Recheck(err))}
}

// forget drops what is remembered of a PodSet whose writes succeed, or which is gone.
func (r *refusals) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byKey, key)
}
