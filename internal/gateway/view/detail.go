// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
)

// Kinds of objects whose fields are read here.
const (
	kindNode       = "Node"
	kindPod        = "Pod"
	kindEvent      = "Event"
	kindNamespace  = "Namespace"
	kindDeployment = "Deployment"
)

// selectable returns the fields besides name and namespace that lists of the kind select by, as on the API server.
func selectable(kind string) []string {
	switch kind {
	case kindPod:
		return []string{"spec.nodeName", "status.phase", "spec.serviceAccountName"}
	case kindEvent:
		return []string{
			"involvedObject.kind", "involvedObject.name", "involvedObject.namespace", "involvedObject.uid", "reason", "type",
		}
	default:
		return nil
	}
}

// fieldsBy returns the values of the fields that lists of the kind select by.
func fieldsBy(obj *unstructured.Unstructured) fields.Set {
	var out fields.Set
	for _, path := range selectable(obj.GetKind()) {
		if out == nil {
			out = fields.Set{}
		}
		out[path] = textAt(obj.Object, path)
	}
	return out
}

// happened returns the time that lists are sorted by: of an event when it was last seen, and of everything else when it was
// created.
func happened(obj *unstructured.Unstructured) time.Time {
	out := obj.GetCreationTimestamp().Time
	if obj.GetKind() != kindEvent {
		return out
	}
	for _, path := range []string{"eventTime", "lastTimestamp", "series.lastObservedTime"} {
		if at, err := time.Parse(time.RFC3339, textAt(obj.Object, path)); err == nil && at.After(out) {
			out = at
		}
	}
	return out
}

// findable returns what a search finds an object by besides its name and labels: images and addresses.
func findable(obj *unstructured.Unstructured) []string {
	var out []string
	for _, path := range []string{"spec.containers", "spec.template.spec.containers"} {
		for _, container := range listAt(obj.Object, path) {
			out = appendText(out, container, "image")
		}
	}
	for _, path := range []string{"spec.image", "spec.image.ref", "spec.clusterIP", "status.podIP", "spec.nodeName", "status.address"} {
		out = appendText(out, obj.Object, path)
	}
	for _, address := range listAt(obj.Object, "status.addresses") {
		out = appendText(out, address, "address")
	}
	return out
}

func appendText(to []string, object map[string]any, path string) []string {
	if text := textAt(object, path); text != "" {
		return append(to, text)
	}
	return to
}
