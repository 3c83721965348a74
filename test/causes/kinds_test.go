// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/why"
)

type kind struct {
	version, kind string
	namespaced    bool
}

func kinds() map[string]kind {
	return map[string]kind{
		"pod":          {"v1", "Pod", true},
		"node":         {"v1", "Node", false},
		"namespace":    {"v1", "Namespace", false},
		"pv":           {"v1", "PersistentVolume", false},
		"pvc":          {"v1", "PersistentVolumeClaim", true},
		"secret":       {"v1", "Secret", true},
		"pdb":          {"policy/v1", "PodDisruptionBudget", true},
		"deployment":   {"apps/v1", "Deployment", true},
		"statefulset":  {"apps/v1", "StatefulSet", true},
		"daemonset":    {"apps/v1", "DaemonSet", true},
		"job":          {"batch/v1", "Job", true},
		"runtimeclass": {"node.k8s.io/v1", "RuntimeClass", false},
		"nodepool":     {nodesv1.SchemeGroupVersion.String(), "NodePool", false},
		"podset":       {appsv1alpha1.SchemeGroupVersion.String(), "PodSet", true},
		"tool":         {appsv1alpha1.SchemeGroupVersion.String(), "PodBuggerTool", true},
		"vm":           {cloudnativev1alpha1.SchemeGroupVersion.String(), "VirtualMachine", true},
		"cluster":      {clusterprovisionerv1alpha1.SchemeGroupVersion.String(), "Cluster", false},
		"kubeconfig":   {clusterprovisionerv1alpha1.SchemeGroupVersion.String(), "Kubeconfig", false},
	}
}

// owned is an object with conditions that Windlass writes.
type owned interface {
	client.Object

	GetConditions() []metav1.Condition
}

// explainer explains a kind of Windlass.
type explainer struct {
	object func() owned
	why    func(owned) *why.Explanation
}

func explainerOf[T any, P interface {
	*T
	owned
}](explain func(P) *why.Explanation) explainer {
	return explainer{
		object: func() owned { return P(new(T)) },
		why: func(of owned) *why.Explanation {
			made, ok := of.(P)
			if !ok {
				return &why.Explanation{} // which names no cause
			}
			return explain(made)
		},
	}
}

func explainers() map[string]explainer {
	return map[string]explainer{
		"NodePool":       explainerOf(why.NodePool),
		"PodSet":         explainerOf(why.PodSet),
		"PodBuggerTool":  explainerOf(why.PodBuggerTool),
		"VirtualMachine": explainerOf(why.VirtualMachine),
		"Cluster":        explainerOf(why.Cluster),
		"Kubeconfig":     explainerOf(why.Kubeconfig),
	}
}
