// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kube is how Windlass sees a cluster: the kinds it knows, what its caches keep of them, and which updates wake a
// controller. The manager and the tests share it, so that a reconciler is tested on exactly what it meets in production.
package kube

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// Kinds returns the kinds of Windlass.
func Kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		appsv1alpha1.SchemeGroupVersion.WithKind("PodBuggerTool"),
		appsv1alpha1.SchemeGroupVersion.WithKind("PodSet"),
		cloudnativev1alpha1.SchemeGroupVersion.WithKind("VirtualMachine"),
		clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Cluster"),
		clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Kubeconfig"),
		nodesv1.SchemeGroupVersion.WithKind("NodePool"),
	}
}

// NewScheme returns a scheme with the kinds of Kubernetes and of Windlass.
func NewScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(appsv1alpha1.AddToScheme(scheme))
	utilruntime.Must(cloudnativev1alpha1.AddToScheme(scheme))
	utilruntime.Must(clusterprovisionerv1alpha1.AddToScheme(scheme))
	utilruntime.Must(nodesv1.AddToScheme(scheme))
	return scheme
}
