// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import "k8s.io/apimachinery/pkg/api/resource"

// formatMilli formats processors like Kubernetes: 2, 500m.
func formatMilli(milli int64) string {
	return resource.NewMilliQuantity(milli, resource.DecimalSI).String()
}

// formatBytes formats bytes like Kubernetes, in binary or decimal units, whichever is shorter: 64Gi, 4G.
func formatBytes(bytes int64) string {
	binary := resource.NewQuantity(bytes, resource.BinarySI).String()
	decimal := resource.NewQuantity(bytes, resource.DecimalSI).String()
	if len(decimal) < len(binary) {
		return decimal
	}
	return binary
}
