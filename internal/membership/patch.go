// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// MergePatch returns the plan as one JSON merge patch (RFC 7386) for the node that it was computed from. A plan depends on everything
// that it read from the node, including the keys and values of other owners. So the patch carries the resourceVersion, and the API
// server rejects it if the node has changed in the meantime. With the UID, the error also shows whether the node was created again.
func (p *Plan) MergePatch(node *corev1.Node) ([]byte, error) {
	metadata := map[string]any{"uid": node.UID, "resourceVersion": node.ResourceVersion}
	if labels := nullable(p.SetLabels, p.RemoveLabels); len(labels) > 0 {
		metadata["labels"] = labels
	}
	annotations := nullable(p.SetAnnotations, p.RemoveAnnotations)
	if p.RecordChanged {
		annotations[nodesv1.AppliedAnnotation] = nil
		if p.Record != "" {
			annotations[nodesv1.AppliedAnnotation] = p.Record
		}
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	patch := map[string]any{"metadata": metadata}
	if p.TaintsChanged {
		taints := p.Taints
		if taints == nil {
			taints = []corev1.Taint{}
		}
		patch["spec"] = map[string]any{"taints": taints}
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return nil, fmt.Errorf("cannot encode patch for node %q: %w", node.Name, err)
	}
	return raw, nil
}

// nullable returns a map for a merge patch, in which null removes a key.
func nullable(set map[string]string, remove []string) map[string]any {
	out := make(map[string]any, len(set)+len(remove))
	for key, value := range set {
		out[key] = value
	}
	for _, key := range remove {
		out[key] = nil
	}
	return out
}
