// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/url"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// kind is one row of the table of kinds: routes, rights, a store and documentation follow from it.
type kind struct {
	// gvk is the kind, and plural its resource, which is also what the routes call it.
	gvk    schema.GroupVersionKind
	plural string
	// namespaced is false for what belongs to the whole cluster.
	namespaced bool
	// scale is true for what has replicas to set.
	scale bool
	// about says what it is.
	about string
}

// Resources that other parts of the gateway ask for by name.
const (
	namespacesPlural  = "namespaces"
	deploymentsPlural = "deployments"
	servicesPlural    = "services"
)

// kinds is the table of kinds.
func kinds() []kind {
	return []kind{
		{gvk: corev1.SchemeGroupVersion.WithKind("Node"), plural: "nodes", about: "Machines of the cluster"},
		{gvk: corev1.SchemeGroupVersion.WithKind("Namespace"), plural: namespacesPlural, about: "Namespaces"},
		{
			gvk: appsv1.SchemeGroupVersion.WithKind("Deployment"), plural: deploymentsPlural, namespaced: true, scale: true,
			about: "Deployments",
		},
		{gvk: corev1.SchemeGroupVersion.WithKind("Service"), plural: servicesPlural, namespaced: true, about: "Services"},
		{gvk: nodesv1.SchemeGroupVersion.WithKind("NodePool"), plural: "nodepools", about: "Node pools"},
		{
			gvk: appsv1alpha1.SchemeGroupVersion.WithKind("PodSet"), plural: "podsets", namespaced: true, scale: true,
			about: "Pod sets",
		},
		{
			gvk: appsv1alpha1.SchemeGroupVersion.WithKind("PodBuggerTool"), plural: "podbuggertools", namespaced: true,
			about: "Debugging tools",
		},
		{
			gvk: cloudnativev1alpha1.SchemeGroupVersion.WithKind("VirtualMachine"), plural: "virtualmachines", namespaced: true,
			about: "Virtual machines",
		},
		{gvk: clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Cluster"), plural: "clusters", about: "Whole clusters"},
		{
			gvk: clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Kubeconfig"), plural: "kubeconfigs",
			about: "Ways into clusters",
		},
	}
}

// resource returns the resource with its group and version.
func (k *kind) resource() schema.GroupVersionResource {
	return k.gvk.GroupVersion().WithResource(k.plural)
}

// path returns where the API server has the kind, an object of it, or a part of the object. Empty elements are left out.
func (k *kind) path(namespace, name, subresource string) string {
	return resourcePath(k.resource(), namespace, name, subresource)
}

func resourcePath(resource schema.GroupVersionResource, namespace, name, subresource string) string {
	elements := []string{"/apis", resource.Group, resource.Version}
	if resource.Group == "" {
		elements = []string{"/api", resource.Version}
	}
	if namespace != "" {
		elements = append(elements, "namespaces", url.PathEscape(namespace))
	}
	for _, element := range []string{resource.Resource, url.PathEscape(name), subresource} {
		if element != "" {
			elements = append(elements, element)
		}
	}
	return strings.Join(elements, "/")
}

// byPlural returns the index of the kind in the table.
func byPlural(table []kind, plural string) (int, bool) {
	for i := range table {
		if table[i].plural == plural {
			return i, true
		}
	}
	return 0, false
}
