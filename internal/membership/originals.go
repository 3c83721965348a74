// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// Key is a key of a node.
type Key struct {
	of  aspect
	key string
}

// Original is a value that another owner has set on a node and that a pool is about to replace, or that one pool takes
// over from another which is leaving the key to it.
type Original struct {
	// Pool is the pool whose status has to hold it.
	Pool string
	// Key is the key.
	Key Key
	// Value is the value.
	Value string
}

// Remember returns the list with the original of the node added, sorted by node. A full list is returned as it is.
func Remember(list []nodesv1.Original, node *corev1.Node, original Original) []nodesv1.Original {
	if !hasRoom(list, node, original) {
		return list
	}
	list = slices.Clone(list)
	i := slices.IndexFunc(list, func(o nodesv1.Original) bool { return o.UID == node.UID })
	if i < 0 {
		list = append(list, nodesv1.Original{Node: node.Name, UID: node.UID})
		slices.SortFunc(list, func(a, b nodesv1.Original) int { return strings.Compare(a.Node, b.Node) })
		i = slices.IndexFunc(list, func(o nodesv1.Original) bool { return o.UID == node.UID })
	}
	values := maps.Clone(originalValues(&list[i], original.Key.of))
	if values == nil {
		values = map[string]string{}
	}
	values[original.Key.key] = original.Value
	setOriginalValues(&list[i], original.Key.of, values)
	return list
}

// Forget returns the list without what nothing needs any more: kept says which keys of a node stay.
func Forget(list []nodesv1.Original, kept map[types.UID][]Key) []nodesv1.Original {
	var out []nodesv1.Original
	for _, original := range list {
		keys, exists := kept[original.UID]
		if !exists {
			continue
		}
		original = *original.DeepCopy()
		for _, of := range aspects() {
			values := originalValues(&original, of)
			maps.DeleteFunc(values, func(key, _ string) bool { return !slices.Contains(keys, Key{of, key}) })
			if len(values) == 0 {
				setOriginalValues(&original, of, nil)
			}
		}
		if len(original.Labels)+len(original.Annotations)+len(original.Taints) > 0 {
			out = append(out, original)
		}
	}
	return out
}

// maxOriginalBytes bounds the list of originals: etcd takes 1.5 MiB for a whole pool. A thousand nodes with a few labels and taints have a fraction
// of it, and a thousand with two long annotations three times as much.
const maxOriginalBytes = 512 << 10

// hasRoom reports whether the list can hold the original of the node besides.
func hasRoom(list []nodesv1.Original, node *corev1.Node, original Original) bool {
	known := slices.ContainsFunc(list, func(o nodesv1.Original) bool { return o.UID == node.UID })
	if !known && len(list) >= nodesv1.MaxOriginals {
		return false
	}
	bytes := entryBytes + valueBytes(original.Key.of, original.Key.key, original.Value)
	for i := range list {
		bytes += entryBytes + len(list[i].Node) + len(list[i].UID)
		for _, of := range aspects() {
			for key, value := range originalValues(&list[i], of) {
				bytes += valueBytes(of, key, value)
			}
		}
	}
	return bytes <= maxOriginalBytes
}

// entryBytes is what the names of the fields of an entry take.
const entryBytes = 100

// valueBytes returns how many bytes a key and its value take in JSON at most. Some characters of annotations take six.
func valueBytes(of aspect, key, value string) int {
	bytes := len(key) + len(value) + len(`"":"",`)
	if of != onAnnotations {
		return bytes
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || strings.IndexByte(`<>&"\`, c) >= 0 {
			bytes += len(`\u003c`) - 1
		}
	}
	return bytes
}

// cut reports whether the value of an annotation may be only the beginning of what the node has: caches keep no more than shows that it is
// another one than a pool's. Nobody could put the rest back.
func cut(of aspect, value string) bool {
	return of == onAnnotations && len(value) > nodesv1.MaxAnnotationValue && utf8.RuneCountInString(value) > nodesv1.MaxAnnotationValue
}

// noted reports whether the pool has noted anything for the node.
func (p *Pool) noted(node *corev1.Node) bool {
	return slices.ContainsFunc(p.Status.Originals, func(o nodesv1.Original) bool { return o.UID == node.UID })
}

// original returns what the pool has noted for the key on the node.
func (p *Pool) original(node *corev1.Node, of aspect, key string) (string, bool) {
	for i := range p.Status.Originals {
		if p.Status.Originals[i].UID == node.UID {
			value, ok := originalValues(&p.Status.Originals[i], of)[key]
			return value, ok
		}
	}
	return "", false
}

func originalValues(original *nodesv1.Original, of aspect) map[string]string {
	switch of {
	case onLabels:
		return original.Labels
	case onAnnotations:
		return original.Annotations
	case onTaints:
		return original.Taints
	}
	return nil
}

func setOriginalValues(original *nodesv1.Original, of aspect, values map[string]string) {
	switch of {
	case onLabels:
		original.Labels = values
	case onAnnotations:
		original.Annotations = values
	case onTaints:
		original.Taints = values
	}
}
