// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"net/url"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// Kind is a kind of object that the API serves: one row of the table from which routes, rights, stores and documentation
// follow.
type Kind struct {
	// GVK is the group, version and kind of the objects.
	GVK schema.GroupVersionKind
	// Plural is the resource, which is also the name of the kind in the routes.
	Plural string
	// Namespaced is false for cluster-scoped kinds.
	Namespaced bool
	// Size is the field of the spec that the scale subresource sets. Default: empty, for kinds without one.
	Size string
	// Access says which writes the API offers.
	Access Access
	// Uncached kinds have no store: the API server is asked, and streams do not have them.
	Uncached bool
	// Quiet kinds are only in streams that name them.
	Quiet bool
	// Uncompressed kinds are served without compression: people put credentials into their texts, and the length of a compressed
	// answer would tell of them to somebody who can write another text of the same answer and sees the network.
	Uncompressed bool
	// About describes the kind in the documentation of the API.
	About string
}

// Access says which writes of a kind the API offers.
type Access int

// Kinds of access.
const (
	// AccessFull offers every write.
	AccessFull Access = iota
	// AccessDelete offers no write but to delete.
	AccessDelete
	// AccessRead offers no write.
	AccessRead
)

// Kinds that parts of the API ask for by name.
const (
	NamespacesPlural  = "namespaces"
	DeploymentsPlural = "deployments"
	ServicesPlural    = "services"
	PodsPlural        = "pods"
	EventsPlural      = "events"
	MachinesPlural    = "virtualmachines"
	ClustersPlural    = "clusters"
	NodesPlural       = "nodes"
	PoolsPlural       = "nodepools"
)

// Kinds returns the table of kinds.
func Kinds() []Kind {
	return []Kind{
		{GVK: corev1.SchemeGroupVersion.WithKind("Node"), Plural: NodesPlural, About: "Nodes"},
		{GVK: corev1.SchemeGroupVersion.WithKind("Namespace"), Plural: NamespacesPlural, About: "Namespaces"},
		{
			GVK: appsv1.SchemeGroupVersion.WithKind("Deployment"), Plural: DeploymentsPlural, Namespaced: true, Size: "replicas",
			About: "Deployments",
		},
		{GVK: corev1.SchemeGroupVersion.WithKind("Service"), Plural: ServicesPlural, Namespaced: true, About: "Services"},
		{GVK: nodesv1.SchemeGroupVersion.WithKind("NodePool"), Plural: PoolsPlural, About: "NodePools"},
		{
			GVK: appsv1alpha1.SchemeGroupVersion.WithKind("PodSet"), Plural: "podsets", Namespaced: true, Size: "size",
			About: "PodSets",
		},
		{
			GVK: appsv1alpha1.SchemeGroupVersion.WithKind("PodBuggerTool"), Plural: "podbuggertools", Namespaced: true,
			About: "PodBuggerTools",
		},
		{
			GVK: cloudnativev1alpha1.SchemeGroupVersion.WithKind("VirtualMachine"), Plural: MachinesPlural, Namespaced: true, Uncompressed: true,
			About: "VirtualMachines",
		},
		{GVK: clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Cluster"), Plural: ClustersPlural, About: "Clusters"},
		{
			GVK: clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Kubeconfig"), Plural: "kubeconfigs",
			About: "Kubeconfigs",
		},
		{GVK: corev1.SchemeGroupVersion.WithKind(kindPod), Plural: PodsPlural, Namespaced: true, Access: AccessDelete, About: "Pods"},
		{
			GVK: corev1.SchemeGroupVersion.WithKind(kindEvent), Plural: EventsPlural, Namespaced: true, Access: AccessRead, Quiet: true,
			About: "Events",
		},
		linked(appsv1.SchemeGroupVersion, "ReplicaSet", "replicasets"),
		linked(appsv1.SchemeGroupVersion, "StatefulSet", "statefulsets"),
		linked(appsv1.SchemeGroupVersion, "DaemonSet", "daemonsets"),
		linked(batchv1.SchemeGroupVersion, "Job", "jobs"),
		linked(corev1.SchemeGroupVersion, "PersistentVolumeClaim", "persistentvolumeclaims"),
		configMaps(),
	}
}

// linked returns the row of a kind that pages link to: it is read from the API server with the caller's own rights, so that the
// gateway's account needs none.
func linked(version schema.GroupVersion, kind, plural string) Kind {
	return Kind{GVK: version.WithKind(kind), Plural: plural, Namespaced: true, Access: AccessRead, Uncached: true, About: kind + "s"}
}

// configMaps returns the row of ConfigMaps.
func configMaps() Kind {
	out := linked(corev1.SchemeGroupVersion, "ConfigMap", "configmaps")
	out.Uncompressed = true
	return out
}

// Resource returns the resource with its group and version.
func (k *Kind) Resource() schema.GroupVersionResource {
	return k.GVK.GroupVersion().WithResource(k.Plural)
}

// ScopeOf returns the namespace that decides who may see the item. A Namespace is in itself, as RBAC has it.
func (k *Kind) ScopeOf(item *Item) string {
	if k.Plural == NamespacesPlural {
		return item.Name
	}
	return item.Namespace
}

// Path returns the path of the kind on the API server, of one object, or of a subresource. Empty elements are left out.
func (k *Kind) Path(namespace, name, subresource string) string {
	return ResourcePath(k.Resource(), namespace, name, subresource)
}

// ResourcePath returns the path of a resource on the API server, of one object, or of a subresource. Empty elements are
// left out.
func ResourcePath(resource schema.GroupVersionResource, namespace, name, subresource string) string {
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
