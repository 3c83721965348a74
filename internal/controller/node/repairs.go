// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clock"
	"github.com/windlass-operator/windlass/internal/membership"
)

// What another writer has changed is repaired at once. If it insists on its value, both would write as fast as they see each other.
const (
	// maxRepairs is how often a node is given the same within repairsWithin.
	maxRepairs    = 5
	repairsWithin = time.Minute
)

// repairs remembers what each node has been given of late. Whether a key has drifted does not decide: that is known only while all nodes of its pool are
// in order, and only of a node that has its record. The zero value knows of no node.
type repairs struct {
	mu    sync.Mutex
	of    map[string]repaired // by node
	seed  maphash.Seed
	swept time.Time
}

// repaired is what a node has been given since a time, as hashes: after a change of a pool there is one for each of its nodes, until the next write.
type repaired struct {
	since time.Time
	// node is the node with its pools as they are: a node that joins or leaves one, or that follows an edit of one, is not repaired.
	node uint64
	// values are what it has been given, by key, and count is how often it was nothing else.
	values map[uint64]uint64
	count  int
}

// wait returns for how long a plan has to wait that gives a node nothing but what it has been given before, 0 for any other one.
func (r *repairs) wait(node *corev1.Node, pools membership.Pools, plan *membership.Plan, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.of[node.Name]
	if last.count < maxRepairs || last.node != r.hash(identity(node, pools, plan)) || !last.has(r.hashes(given(node, plan))) {
		return 0
	}
	return last.left(now)
}

// note counts a plan that has been carried out, and reports whether the next one like it may have to wait.
func (r *repairs) note(node *corev1.Node, pools membership.Pools, plan *membership.Plan, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep(now)
	last, values, subject := r.of[node.Name], r.hashes(given(node, plan)), r.hash(identity(node, pools, plan))
	switch {
	case last.left(now) == 0 || last.node != subject:
		last = repaired{since: now, node: subject, values: values, count: 1}
	case last.has(values):
		last.count++
	default:
		maps.Copy(last.values, values)
		return false
	}
	r.of[node.Name] = last
	return last.count == maxRepairs
}

// sweep forgets, once in a while, the nodes that nobody has written of late.
func (r *repairs) sweep(now time.Time) {
	if r.of == nil {
		r.of, r.seed = map[string]repaired{}, maphash.MakeSeed()
	}
	if clock.Left(r.swept.Add(repairsWithin), repairsWithin, now) > 0 {
		return
	}
	r.swept = now
	maps.DeleteFunc(r.of, func(_ string, last repaired) bool { return last.left(now) == 0 })
}

// drop forgets a node that is gone.
func (r *repairs) drop(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, node)
}

func (r *repairs) hash(text string) uint64 { return maphash.String(r.seed, text) }

func (r *repairs) hashes(values map[string]string) map[uint64]uint64 {
	out := make(map[uint64]uint64, len(values))
	for key, value := range values {
		out[r.hash(key)] = r.hash(value)
	}
	return out
}

// left returns how much is left of the time in which writes are counted.
func (r repaired) left(now time.Time) time.Duration {
	return clock.Left(r.since.Add(repairsWithin), repairsWithin, now)
}

// has reports whether the node has been given all of these values.
func (r repaired) has(values map[uint64]uint64) bool {
	for key, value := range values {
		if before, known := r.values[key]; !known || before != value {
			return false
		}
	}
	return true
}

// identity tells the node and its pools. Their generations are in it because all that an edit changes may be the record, as where another pool has the same
// label; no kubelet can change them.
func identity(node *corev1.Node, pools membership.Pools, plan *membership.Plan) string {
	var out strings.Builder
	out.WriteString(string(node.UID))
	for _, names := range [][]string{plan.Members, plan.Leaving} {
		out.WriteString(";")
		for _, name := range names {
			out.WriteString(" " + name)
			if pool, ok := pools[name]; ok {
				out.WriteString("@" + strconv.FormatInt(pool.Generation, 10))
			}
		}
	}
	return out.String()
}

// removed is the value of a key that is taken off. No label and no taint can have it.
const removed = "\x00"

// given returns what a plan gives a node, by key as a Conflict has it. What the record says follows from the rest, or from what the kubelet writes.
func given(node *corev1.Node, plan *membership.Plan) map[string]string {
	out := map[string]string{}
	for key, value := range plan.SetLabels {
		out[membership.LabelKey(key)] = value
	}
	for _, key := range plan.RemoveLabels {
		out[membership.LabelKey(key)] = removed
	}
	for key, value := range plan.SetAnnotations {
		out[membership.AnnotationKey(key)] = value
	}
	for _, key := range plan.RemoveAnnotations {
		out[membership.AnnotationKey(key)] = removed
	}
	if plan.RecordChanged {
		out[membership.AnnotationKey(nodesv1.AppliedAnnotation)] = ""
	}
	if plan.TaintsChanged {
		maps.Copy(out, givenTaints(node, plan))
	}
	return out
}

// givenTaints leaves out the taints of others, which can be other ones each time.
func givenTaints(node *corev1.Node, plan *membership.Plan) map[string]string {
	out := map[string]string{}
	for i := range node.Spec.Taints {
		out[membership.TaintKey(&node.Spec.Taints[i])] = removed
	}
	for i := range plan.Taints {
		taint, key := &plan.Taints[i], membership.TaintKey(&plan.Taints[i])
		out[key] = taint.Value
		if slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(taint) && t.Value == taint.Value }) {
			delete(out, key)
		}
	}
	return out
}
