// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	nodev1 "k8s.io/api/node/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mapper knows the paths of all kinds that commands read or write, so that no command has to ask the API server which kinds it serves.
func mapper() apimeta.RESTMapper {
	out := apimeta.NewDefaultRESTMapper(nil)
	add := func(gvk schema.GroupVersionKind, plural string, namespaced bool) {
		scope := apimeta.RESTScopeRoot
		if namespaced {
			scope = apimeta.RESTScopeNamespace
		}
		version := gvk.GroupVersion()
		out.AddSpecific(gvk, version.WithResource(plural), version.WithResource(plural), scope)
	}
	for _, k := range kinds() {
		add(k.gvk, k.plural, k.namespaced)
	}
	add(nodeMetrics, nodesPlural, false)
	core := corev1.SchemeGroupVersion
	add(core.WithKind("Namespace"), "namespaces", false)
	add(core.WithKind("Secret"), "secrets", true)
	add(core.WithKind("ConfigMap"), "configmaps", true)
	add(core.WithKind("Event"), "events", true)
	add(core.WithKind("PersistentVolumeClaim"), "persistentvolumeclaims", true)
	add(nodev1.SchemeGroupVersion.WithKind("RuntimeClass"), "runtimeclasses", false)
	add(eventsv1.SchemeGroupVersion.WithKind("Event"), "events", true)
	return out
}
