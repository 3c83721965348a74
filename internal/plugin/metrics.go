// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// nodeMetrics is what a metrics server says of a node.
var nodeMetrics = schema.GroupVersionKind{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "NodeMetrics"}

// usedByNode returns what nodes really use, or, as a part of a sentence, why nobody knows.
func (c *cluster) usedByNode(ctx context.Context) (map[string]corev1.ResourceList, string, error) {
	out := map[string]corev1.ResourceList{}
	page := &unstructured.UnstructuredList{}
	page.SetGroupVersionKind(nodeMetrics.GroupVersion().WithKind(nodeMetrics.Kind + "List"))
	var broken string
	err := c.listAll(ctx, page, func() {
		for i := range page.Items {
			of := &page.Items[i]
			usage, _, err := unstructured.NestedStringMap(of.Object, "usage")
			if err != nil {
				broken = err.Error()
				continue
			}
			used := corev1.ResourceList{}
			for name, text := range usage {
				amount, err := resource.ParseQuantity(text)
				if err != nil {
					broken = err.Error()
					continue
				}
				used[corev1.ResourceName(name)] = amount
			}
			out[of.GetName()] = used
		}
	}, "")
	switch {
	case unserved(err):
		return nil, "what nodes use: this cluster does not serve metrics.k8s.io", nil
	case apierrors.IsServiceUnavailable(err):
		return nil, "what nodes use: the server of metrics.k8s.io does not answer", nil
	case apierrors.IsForbidden(err):
		return nil, "what nodes use: you may not list nodes.metrics.k8s.io", nil
	case err != nil:
		return nil, "", err
	}
	if broken != "" {
		return nil, fmt.Sprintf("what nodes use: metrics.k8s.io has answered something else: %s", broken), nil
	}
	return out, "", nil
}
