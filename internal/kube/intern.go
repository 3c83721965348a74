// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"hash/maphash"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Sizes of a generation: more than a cluster has of strings that many nodes share, and of kinds of machines.
const (
	maxStrings = 4096
	maxLists   = 256
	// maxStringBytes is how long a string can be that is interned: the record of what a few pools have put on a node, which is the same on all of
	// their nodes. Longer ones mostly differ from node to node.
	maxStringBytes = 512
)

// interner gives equal strings and equal lists of resources of many objects one place in memory. Nodes of a cluster have the same labels, most of their
// values, and sizes of few kinds; each is decoded into memory of its own. What it returns is shared and must not be changed.
type interner struct {
	mu      sync.Mutex
	seed    maphash.Seed
	strings generations[string, string]
	lists   generations[uint64, corev1.ResourceList]
}

func newInterner() *interner {
	return &interner{
		seed: maphash.MakeSeed(), strings: generations[string, string]{size: maxStrings},
		lists: generations[uint64, corev1.ResourceList]{size: maxLists},
	}
}

// generations is a bounded map: when the younger one is full, it becomes the older one, whose values are forgotten unless somebody has asked for them.
// So values that are all different, as names of hosts, do not displace those that are shared.
type generations[K comparable, V any] struct {
	size       int
	young, old map[K]V
}

func (g *generations[K, V]) get(key K) (V, bool) {
	value, ok := g.young[key]
	if ok {
		return value, true
	}
	if value, ok = g.old[key]; ok {
		g.put(key, value)
	}
	return value, ok
}

func (g *generations[K, V]) put(key K, value V) {
	if g.young == nil || len(g.young) >= g.size {
		g.old, g.young = g.young, make(map[K]V)
	}
	g.young[key] = value
}

// meta interns the strings of labels, annotations and owners, which it changes in place.
func (in *interner) meta(meta *metav1.ObjectMeta) {
	in.mu.Lock()
	defer in.mu.Unlock()
	meta.Namespace = in.text(meta.Namespace)
	in.texts(meta.Labels)
	in.texts(meta.Annotations)
	for i := range meta.OwnerReferences {
		owner := &meta.OwnerReferences[i]
		owner.APIVersion, owner.Kind, owner.Name = in.text(owner.APIVersion), in.text(owner.Kind), in.text(owner.Name)
		owner.UID = types.UID(in.text(string(owner.UID)))
	}
}

// taints interns the strings of taints, which it changes in place.
func (in *interner) taints(taints []corev1.Taint) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i := range taints {
		taint := &taints[i]
		taint.Key, taint.Value, taint.Effect = in.text(taint.Key), in.text(taint.Value), corev1.TaintEffect(in.text(string(taint.Effect)))
	}
}

// one interns a string.
func (in *interner) one(text string) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.text(text)
}

// resources returns a list that equals the given one, in value and format of each quantity.
func (in *interner) resources(list corev1.ResourceList) corev1.ResourceList {
	if len(list) == 0 {
		return list
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	type entry struct {
		name  corev1.ResourceName
		value int64
	}
	sum := uint64(0)
	for name, quantity := range list {
		sum += maphash.Comparable(in.seed, entry{name, quantity.Value()})
	}
	if shared, ok := in.lists.get(sum); ok && same(shared, list) {
		return shared
	}
	in.lists.put(sum, list)
	return list
}

// same reports whether two lists have the same resources, written the same way.
func same(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, quantity := range a {
		other, ok := b[name]
		if !ok || quantity.Format != other.Format || quantity.Cmp(other) != 0 {
			return false
		}
	}
	return true
}

func (in *interner) texts(texts map[string]string) {
	for key, value := range texts {
		texts[in.text(key)] = in.text(value) // the key of the entry becomes the interned one: a map updates keys that are strings
	}
}

func (in *interner) text(text string) string {
	if text == "" || len(text) > maxStringBytes {
		return text
	}
	if shared, ok := in.strings.get(text); ok {
		return shared
	}
	in.strings.put(text, text)
	return text
}
