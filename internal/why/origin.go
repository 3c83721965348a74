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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
)

// Origin says who has set a label, an annotation or a taint of a node.
type Origin struct {
	// Key as "label <key>", "annotation <key>" or "taint <key>:<effect>", and its value.
	Key   string `json:"key" doc:"The key: label KEY, annotation KEY or taint KEY:EFFECT" example:"taint gpu:NoSchedule"`
	Value string `json:"value" doc:"Its value"`
	// By says what kind of writer has set it.
	By By `json:"by" enum:"Pool,Kubelet,Manager,Unknown" doc:"Who has set it: a pool; the kubelet or another field manager, as managedFields say; or nobody knows"`
	// Pool is the name of the pool.
	Pool string `json:"pool,omitempty" doc:"The pool"`
	// Replaced is the value of another owner that comes back when the node leaves the pool.
	Replaced *string `json:"replaced,omitempty" doc:"The value of another owner that comes back when the node leaves the pool"`
	// Lost are the pools that want another value.
	Lost []string `json:"lost,omitempty" nullable:"false" doc:"The pools that want another value and go without"`
	// Manager is the field manager, and At when it wrote last.
	Manager string       `json:"manager,omitempty" doc:"The field manager, a name that the writer chooses"`
	At      *metav1.Time `json:"at,omitempty" doc:"When it wrote last"`
	// Message says it in a sentence.
	Message string `json:"message" doc:"The same as a sentence"`
}

// By is a kind of writer.
type By string

// Kinds of writers.
const (
	ByPool    By = "Pool"
	ByKubelet By = "Kubelet"
	ByManager By = "Manager"
	ByUnknown By = "Unknown"
)

// maxKeys bounds the answer: a node can have 256 KiB of annotations.
const maxKeys = 512

// Origins returns who has set the labels, annotations and taints of the node, in order. The node needs its managedFields. Key is one as in
// Origin, or a bare one; empty for all. Without pools, those of pools are told by their field manager.
func Origins(node *corev1.Node, pools membership.Pools, key string) []Origin {
	holders, lost := membership.Holders(node, pools), map[string][]string{}
	for _, conflict := range membership.NewPlan(node, pools).Conflicts {
		lost[conflict.Key] = append(lost[conflict.Key], conflict.Pool)
	}
	writers := writersOf(node)
	out := []Origin{}
	for _, one := range carried(node) {
		if key != "" && key != one.Key && !strings.HasSuffix(one.Key, " "+key) && !strings.HasPrefix(one.Key, "taint "+key+":") {
			continue
		}
		if len(out) == maxKeys {
			break
		}
		holder, held := holders[one.Key]
		if held {
			one.By, one.Pool, one.Replaced = ByPool, holder.Pool, holder.Replaced
		} else {
			one.writtenBy(writers, one.path)
		}
		one.Lost = lost[one.Key]
		one.Message = one.describe()
		out = append(out, one.Origin)
	}
	return out
}

// carriedKey is a key that the node has, with its path for managedFields.
type carriedKey struct {
	Origin

	path fieldpath.Path
}

// carried returns what the node has, in order. The list of taints has one writer.
func carried(node *corev1.Node) []carriedKey {
	var out []carriedKey
	for key, value := range node.Labels {
		out = append(out, carriedKey{Origin{Key: membership.LabelKey(key), Value: value}, fieldpath.MakePathOrDie("metadata", "labels", key)})
	}
	for key, value := range node.Annotations {
		out = append(out, carriedKey{
			Origin{Key: membership.AnnotationKey(key), Value: status.Clip(value, maxValue)}, fieldpath.MakePathOrDie("metadata", "annotations", key),
		})
	}
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		out = append(out, carriedKey{Origin{Key: membership.TaintKey(taint), Value: taint.Value}, fieldpath.MakePathOrDie("spec", "taints")})
	}
	slices.SortFunc(out, func(a, b carriedKey) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// valueOf returns the value of a key as a Conflict has it.
func valueOf(node *corev1.Node, key string) string {
	for _, one := range carried(node) {
		if one.Key == key {
			return one.Value
		}
	}
	return ""
}

// writer is a field manager of the node and what it has written.
type writer struct {
	entry  *metav1.ManagedFieldsEntry
	fields *fieldpath.Set
}

// writersOf returns the field managers, the latest first. An entry that cannot be read tells nothing.
func writersOf(node *corev1.Node) []writer {
	var out []writer
	for i := range node.ManagedFields {
		entry := &node.ManagedFields[i]
		if entry.FieldsV1 == nil {
			continue
		}
		fields := &fieldpath.Set{}
		if fields.FromJSON(entry.FieldsV1.GetRawReader()) == nil {
			out = append(out, writer{entry, fields})
		}
	}
	slices.SortStableFunc(out, func(a, b writer) int {
		return cmp.Or(timeOf(b.entry).Compare(timeOf(a.entry)), strings.Compare(a.entry.Manager, b.entry.Manager))
	})
	return out
}

func timeOf(entry *metav1.ManagedFieldsEntry) time.Time {
	if entry.Time == nil {
		return time.Time{}
	}
	return entry.Time.Time
}

func (o *carriedKey) writtenBy(writers []writer, path fieldpath.Path) {
	o.By = ByUnknown
	for _, w := range writers {
		if !w.fields.Has(path) {
			continue
		}
		o.By, o.Manager, o.At = ByManager, w.entry.Manager, w.entry.Time
		if o.Manager == "kubelet" {
			o.By = ByKubelet
		}
		return
	}
}

func (o *carriedKey) describe() string {
	var text string
	switch o.By {
	case ByPool:
		text = fmt.Sprintf("pool %s has set it", o.Pool)
		if o.Replaced != nil {
			text += fmt.Sprintf(" in place of %q, which comes back when the node leaves the pool", *o.Replaced)
		}
	case ByKubelet:
		text = "the kubelet has set it"
	case ByManager:
		text = "the field manager " + o.Manager + " has set it"
		if strings.HasPrefix(o.Key, "taint ") {
			text = "the field manager " + o.Manager + " has written the list of taints last"
		}
	case ByUnknown:
		text = "nobody knows who has set it: no field manager names it"
	}
	if len(o.Lost) > 0 {
		text += fmt.Sprintf("; another value is wanted by pool %s", strings.Join(o.Lost, ", "))
	}
	return sentence(text)
}
