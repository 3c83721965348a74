// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/why"
)

// explained explains an object by itself. Nodes and pods cannot be: they need what is around them.
func explained(object client.Object) *why.Explanation {
	switch of := object.(type) {
	case *nodesv1.NodePool:
		return why.NodePool(of)
	case *appsv1alpha1.PodSet:
		return why.PodSet(of)
	case *appsv1alpha1.PodBuggerTool:
		return why.PodBuggerTool(of)
	case *cloudnativev1alpha1.VirtualMachine:
		return why.VirtualMachine(of)
	case *clusterprovisionerv1alpha1.Cluster:
		return why.Cluster(of)
	case *clusterprovisionerv1alpha1.Kubeconfig:
		return why.Kubeconfig(of)
	case *appsv1.Deployment:
		return why.Deployment(of)
	case *appsv1.ReplicaSet:
		return why.ReplicaSet(of)
	case *appsv1.StatefulSet:
		return why.StatefulSet(of)
	case *appsv1.DaemonSet:
		return why.DaemonSet(of)
	case *batchv1.Job:
		return why.Job(of)
	case *batchv1.CronJob:
		return why.CronJob(of, nil, "")
	}
	return &why.Explanation{}
}
