// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Resources returns a list of resources by name and quantity: "cpu", "4", "memory", "8Gi".
func Resources(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for pair := range slices.Chunk(pairs, 2) {
		list[corev1.ResourceName(pair[0])] = resource.MustParse(pair[1])
	}
	return list
}
