// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/provision"
)

// hiddenText takes the place of what a report does not have.
const hiddenText = "[redacted]"

// keptFields are the fields of specs whose texts a report keeps: names, choices and quantities. It is a list of what may stay, so that a
// field that is added later is hidden until somebody has thought about it.
func keptFields() []string {
	return []string{
		"action", "approval", "clusterRole", "cpu", "deletionPolicy", "driver", "effect", "from", "handler", "host", "image", "key", "label", "maxSurge",
		"maxUnavailable", "memory", "minAvailable", "mode", "name", "namespace", "nodeCIDRs", "nodePool", "operator", "overwrite", "protocol",
		"provisioner", "restartAt", "runStrategy", "serviceAccount", "size", "targetContainer", "type", "updatePolicy",
	}
}

// keptMaps are the fields whose texts a report keeps whatever their keys are: labels are for everybody who can see the object.
func keptMaps() []string { return []string{"labels", "matchLabels", "resource", "requests", "limits"} }

// keptOf returns what a report has of an object.
func keptOf(object client.Object) (map[string]any, error) {
	if node, ok := object.(*corev1.Node); ok {
		node.Status.Images = nil // kilobytes for each node, and none of Windlass's business
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %T %q: %w", object, object.GetName(), err)
	}
	all := map[string]any{}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("cannot read %T %q: %w", object, object.GetName(), err)
	}
	metadata := map[string]any{
		"name": object.GetName(), "uid": string(object.GetUID()), "resourceVersion": object.GetResourceVersion(), "generation": object.GetGeneration(),
		"creationTimestamp": object.GetCreationTimestamp(), "deletionTimestamp": object.GetDeletionTimestamp(), "finalizers": object.GetFinalizers(),
		"labels": object.GetLabels(), "annotations": annotationKeys(object),
	}
	if namespace := object.GetNamespace(); namespace != "" {
		metadata["namespace"] = namespace
	}
	return map[string]any{"metadata": metadata, "spec": keptSpec("", all["spec"], false), "status": keptStatus(all["status"])}, nil
}

// annotationKeys returns the keys: values can hold anything, such as the manifest that kubectl has applied.
func annotationKeys(object client.Object) []string {
	out := make([]string, 0, len(object.GetAnnotations()))
	for key := range object.GetAnnotations() {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// keptSpec hides the texts that are not in the list. A field is named by the map that it is in; the elements of a list by the list.
func keptSpec(field string, value any, whole bool) any {
	switch of := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(of))
		for key, each := range of {
			out[key] = keptSpec(key, each, whole || slices.Contains(keptMaps(), field))
		}
		return out
	case []any:
		out := make([]any, 0, len(of))
		for _, each := range of {
			out = append(out, keptSpec(field, each, whole))
		}
		return out
	case string:
		if whole || slices.Contains(keptMaps(), field) || slices.Contains(keptFields(), field) {
			return withoutSecrets(of)
		}
		return hiddenText
	default:
		return of
	}
}

// keptStatus keeps what Windlass has written, without what looks like a secret: messages quote tools and machines.
func keptStatus(value any) any {
	switch of := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(of))
		for key, each := range of {
			out[key] = keptStatus(each)
		}
		return out
	case []any:
		out := make([]any, 0, len(of))
		for _, each := range of {
			out = append(out, keptStatus(each))
		}
		return out
	case string:
		return withoutSecrets(of)
	default:
		return of
	}
}

func withoutSecrets(text string) string { return strings.TrimRight(provision.Redact(text), "\n") }
