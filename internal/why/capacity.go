// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

// capacityShort compares the pods with empty nodes, because it does not know what else runs there. As all pods are equal, the
// scarcest resource of a node decides how many it has room for.
func capacityShort(pods Pods, pool Pool, m members) *Cause {
	called := aReadyNode
	if len(m.usable) < len(m.ready) {
		called = aUsableNode
	}
	size := Requests(pods.Spec)
	text := tooSmall(size, pool, m.usable, called)
	if text == "" {
		text = tooFew(pods, size, pool, m, called)
	}
	return when(text != "", &Cause{Reason: appsv1alpha1.ReasonPoolCapacityShort, Text: text})
}

// tooSmall explains why no node has room for a pod; it is empty if one has.
func tooSmall(size corev1.ResourceList, pool Pool, nodes []*corev1.Node, called string) string {
	if slices.ContainsFunc(nodes, func(node *corev1.Node) bool { return room(node, size) > 0 }) {
		return ""
	}
	wanted := make([]string, 0, len(size))
	for _, name := range sorted(size) {
		part := corev1.ResourceList{name: size[name]}
		if !slices.ContainsFunc(nodes, func(node *corev1.Node) bool { return room(node, part) > 0 }) {
			return fmt.Sprintf("pool %s has %s", pool.Name, compare(nodes, called, name, size[name]))
		}
		if name != corev1.ResourcePods {
			wanted = append(wanted, amount(name, size[name]))
		}
	}
	return fmt.Sprintf("no %s of pool %s has everything that a pod requests: %s", called, pool.Name, strings.Join(wanted, ", "))
}

// tooFew explains why there is no room for all pods; it is empty if there is. Pods that already run on nodes which accept no
// new pods need no room.
func tooFew(pods Pods, size corev1.ResourceList, pool Pool, m members, called string) string {
	have := total(m.usable, size)
	for _, node := range m.all {
		if !slices.Contains(m.usable, node) {
			have += int64(pods.PerNode[node.Name])
		}
	}
	if have >= int64(pods.Wanted) {
		return ""
	}
	scarcest := slices.MinFunc(sorted(size), func(a, b corev1.ResourceName) int {
		return cmp.Compare(total(m.usable, corev1.ResourceList{a: size[a]}), total(m.usable, corev1.ResourceList{b: size[b]}))
	})
	return fmt.Sprintf("pool %s has room for %d of %d pods: %s",
		pool.Name, have, pods.Wanted, compare(m.usable, called, scarcest, size[scarcest]))
}

// compare contrasts the most that a node has of a resource with what a pod requests.
func compare(nodes []*corev1.Node, called string, name corev1.ResourceName, wanted resource.Quantity) string {
	most, same := nodes[0].Status.Allocatable[name], true
	for _, node := range nodes[1:] {
		have := node.Status.Allocatable[name]
		same = same && have.Cmp(most) == 0
		if have.Cmp(most) > 0 {
			most = have
		}
	}
	text := fmt.Sprintf("1 %s with %s allocatable", called, amount(name, most))
	if len(nodes) > 1 {
		bound := ""
		if !same {
			bound = "at most "
		}
		text = fmt.Sprintf("%d %ss with %s%s allocatable each", len(nodes), called, bound, amount(name, most))
	}
	if name == corev1.ResourcePods {
		return text
	}
	return fmt.Sprintf("%s; a pod requests %s", text, amount(name, wanted))
}

// amount formats a quantity with its resource.
func amount(name corev1.ResourceName, quantity resource.Quantity) string {
	if name == corev1.ResourceCPU && quantity.CmpInt64(maxScaled) > 0 {
		return quantity.String() + " CPU"
	}
	if name == corev1.ResourceCPU {
		return strconv.FormatFloat(float64(quantity.MilliValue())/1000, 'f', -1, 64) + " CPU"
	}
	return quantity.String() + " " + string(name)
}

// sorted returns the names of the resources, CPU and memory first.
func sorted(list corev1.ResourceList) []corev1.ResourceName {
	rank := func(name corev1.ResourceName) int {
		return slices.Index([]corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceCPU}, name)
	}
	return slices.SortedFunc(maps.Keys(list), func(a, b corev1.ResourceName) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a, b))
	})
}

// total is how many pods of that size all nodes together have room for.
func total(nodes []*corev1.Node, size corev1.ResourceList) int64 {
	var sum int64
	for _, node := range nodes {
		sum += room(node, size)
	}
	return sum
}

// room is how many pods of that size fit on an empty node. A node that does not report how many pods it accepts, accepts any
// number.
func room(node *corev1.Node, size corev1.ResourceList) int64 {
	count := int64(math.MaxInt32)
	for name, wanted := range size {
		have, told := node.Status.Allocatable[name]
		if name == corev1.ResourcePods && !told {
			continue
		}
		count = min(count, times(have, wanted, scaleOf(name)))
	}
	return count
}

// scaleOf is the unit in which a resource is counted.
func scaleOf(name corev1.ResourceName) resource.Scale {
	if name == corev1.ResourceCPU {
		return resource.Milli
	}
	return 0
}

// maxScaled is a quantity whose thousandths are just within an int64. Beyond that, a scaled value is 0 or wrong, and no error tells.
const maxScaled = math.MaxInt64 / 1000

// times is how often a quantity is in another one.
func times(have, wanted resource.Quantity, scale resource.Scale) int64 {
	switch {
	case have.Cmp(wanted) < 0: // this is exact whatever the size
		return 0
	case have.CmpInt64(maxScaled) > 0: // no real node has that much, so an approximation is enough
		return int64(min(have.AsApproximateFloat64()/wanted.AsApproximateFloat64(), math.MaxInt32))
	}
	return have.ScaledValue(scale) / wanted.ScaledValue(scale)
}
