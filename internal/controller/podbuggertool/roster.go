// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/google/btree"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

// roster holds the live pods of a namespace, sorted for each tool that has asked for them. A change of a pod moves it in the trees of
// the tools that it matches, and a pass reads as many pods as a tool can have: neither looks at the other pods of the namespace.
type roster struct {
	// wake is called with the name of a tool that has to look again.
	wake func(tool string)

	mu sync.Mutex
	// pods holds the live pods by name, with what was written to them.
	pods map[string]*corev1.Pod
	// ahead holds the containers that were written and that the watch has not reported, so that a place under maxPods is not given
	// away twice. Nothing is lost with it: after a restart everything is read anew.
	ahead map[types.UID][]corev1.EphemeralContainer
	views map[string]*view
}

// view sorts the pods of one tool by what can become of them, the oldest first.
type view struct {
	query

	having, running, waiting *btree.BTreeG[*corev1.Pod]
}

// query says which pods a tool needs.
type query struct {
	selector  labels.Selector
	container string
	maxPods   int
	// passedOver are the pods that have refused the tool, with what the API server answered: they leave their places to others.
	passedOver map[types.UID]error
}

// sample is what a pass reads: all pods that have the tool, and the oldest ones that lack it. Beyond is how many more match. None of
// them can get the tool or be shown by the status, because the sample has enough older ones.
type sample struct {
	pods   []*corev1.Pod
	beyond int
}

func newRoster(wake func(tool string)) *roster {
	return &roster{
		wake: wake, pods: make(map[string]*corev1.Pod), views: make(map[string]*view),
		ahead: make(map[types.UID][]corev1.EphemeralContainer),
	}
}

// put takes in a pod as the watch reports it, and wakes the tools that it matters to.
func (r *roster) put(pod *corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was := r.pods[pod.Name]; was != nil && was.UID != pod.UID {
		delete(r.ahead, was.UID)
	}
	if !live(pod) {
		delete(r.ahead, pod.UID)
		r.replace(r.pods[pod.Name], nil)
		return
	}
	is := *pod
	r.ahead[pod.UID] = slices.DeleteFunc(r.ahead[pod.UID], func(c corev1.EphemeralContainer) bool { return carries(pod, c.Name) })
	if is.Spec.EphemeralContainers = slices.Concat(pod.Spec.EphemeralContainers, r.ahead[pod.UID]); len(r.ahead[pod.UID]) == 0 {
		delete(r.ahead, pod.UID)
	}
	r.replace(r.pods[pod.Name], &is)
}

// remove takes out a pod that is gone.
func (r *roster) remove(pod *corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was := r.pods[pod.Name]; was != nil {
		delete(r.ahead, was.UID)
		r.replace(was, nil)
	}
}

// wrote remembers what was written to a pod until the watch reports it.
func (r *roster) wrote(pod *corev1.Pod, containers []corev1.EphemeralContainer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.pods[pod.Name]
	if was == nil || was.UID != pod.UID {
		return
	}
	is := *was
	is.Spec.EphemeralContainers = slices.Clone(was.Spec.EphemeralContainers)
	for i := range containers {
		if !carries(was, containers[i].Name) {
			var name corev1.EphemeralContainer
			name.Name = containers[i].Name
			is.Spec.EphemeralContainers = append(is.Spec.EphemeralContainers, name)
			r.ahead[pod.UID] = append(r.ahead[pod.UID], name)
		}
	}
	r.replace(was, &is)
}

// replace puts one state of a pod in the place of another. Nil stands for a pod that is not there.
func (r *roster) replace(was, is *corev1.Pod) {
	if was == nil && is == nil {
		return
	}
	for tool, view := range r.views {
		before, after := view.treeOf(was), view.treeOf(is)
		if before != nil {
			before.Delete(was)
		}
		if after != nil {
			after.ReplaceOrInsert(is)
		}
		if before != nil && after != nil && matters(was, is) || (before == nil) != (after == nil) {
			r.wake(tool)
		}
	}
	if is == nil {
		delete(r.pods, was.Name)
	} else {
		r.pods[is.Name] = is
	}
}

// matters reports whether a change shows in the status of a tool.
func matters(was, is *corev1.Pod) bool {
	return was.UID != is.UID || was.Status.Phase != is.Status.Phase || !maps.Equal(was.Labels, is.Labels) ||
		!equality.Semantic.DeepEqual(was.Spec.EphemeralContainers, is.Spec.EphemeralContainers) ||
		!equality.Semantic.DeepEqual(was.Status.EphemeralContainerStatuses, is.Status.EphemeralContainerStatuses)
}

// sample returns copies of the pods that a pass over the tool needs, the oldest first. The first call with a query reads all pods.
func (r *roster) sample(tool string, asked query) sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	view := r.views[tool]
	if view == nil || view.container != asked.container || view.selector.String() != asked.selector.String() {
		view = newView(asked, r.pods)
		r.views[tool] = view
	}
	out := sample{beyond: view.running.Len() + view.waiting.Len()}
	take := func(most int) btree.ItemIteratorG[*corev1.Pod] {
		return func(pod *corev1.Pod) bool {
			if most == 0 {
				return false
			}
			most--
			taken := *pod
			taken.Spec.EphemeralContainers = slices.Clip(pod.Spec.EphemeralContainers)
			out.pods = append(out.pods, &taken)
			return true
		}
	}
	view.having.Ascend(take(view.having.Len()))
	having, most := len(out.pods), asked.maxPods+appsv1alpha1.MaxPodTools+len(asked.passedOver)
	view.running.Ascend(take(most))
	view.waiting.Ascend(take(most))
	out.beyond -= len(out.pods) - having
	oldestFirst(out.pods)
	return out
}

// forget drops what is kept for a tool.
func (r *roster) forget(tool string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.views, tool)
}

func newView(asked query, pods map[string]*corev1.Pod) *view {
	const degree = 16
	older := func(a, b *corev1.Pod) bool { return byAge(a, b) < 0 }
	made := &view{
		query: asked, having: btree.NewG(degree, older), running: btree.NewG(degree, older), waiting: btree.NewG(degree, older),
	}
	for _, pod := range pods {
		if tree := made.treeOf(pod); tree != nil {
			tree.ReplaceOrInsert(pod)
		}
	}
	return made
}

// treeOf returns the tree that the pod belongs in, nil if the tool does not match it.
func (v *view) treeOf(pod *corev1.Pod) *btree.BTreeG[*corev1.Pod] {
	switch {
	case pod == nil || !v.selector.Matches(labels.Set(pod.Labels)):
		return nil
	case carries(pod, v.container):
		return v.having
	case pod.Status.Phase == corev1.PodRunning:
		return v.running
	default:
		return v.waiting
	}
}

// live reports whether a pod is one that a tool may reach, now or later: neither on its way out nor at its end.
func live(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp.IsZero() &&
		pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

// oldestFirst sorts pods in the order in which they get tools.
func oldestFirst(pods []*corev1.Pod) { slices.SortFunc(pods, byAge) }

func byAge(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}
