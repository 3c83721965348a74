// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// MergePatch returns the plan as one JSON merge patch (RFC 7386) for the node that it was computed from. The node's UID
// makes sure that a node created anew under the same name is not meant. Taints are one atomic list that others write too,
// so a patch of taints carries the resourceVersion and is refused when the node has changed in the meantime.
func (p *Plan) MergePatch(node *corev1.Node) ([]byte, error) {
	metadata := map[string]any{"uid": node.UID}
	labels := make(map[string]any, len(p.SetLabels)+len(p.RemoveLabels))
	for key, value := range p.SetLabels {
		labels[key] = value
	}
	for _, key := range p.RemoveLabels {
		labels[key] = nil
	}
	if len(labels) > 0 {
		metadata["labels"] = labels
	}
	if p.RecordChanged {
		var record any
		if p.Record != "" {
			record = p.Record
		}
		metadata["annotations"] = map[string]any{nodesv1.AppliedAnnotation: record}
	}
	patch := map[string]any{"metadata": metadata}
	if p.TaintsChanged {
		metadata["resourceVersion"] = node.ResourceVersion
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

func splitTaintID(id string) (string, corev1.TaintEffect) {
	key, effect, _ := strings.Cut(id, ":")
	return key, corev1.TaintEffect(effect)
}

func isMemberLabel(key string) bool { return strings.HasPrefix(key, nodesv1.MemberLabelPrefix) }
