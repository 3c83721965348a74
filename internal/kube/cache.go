// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// maxAnnotation is how much the caches keep of a node's annotation, in characters: one more than a pool's value can have.
const maxAnnotation = nodesv1.MaxAnnotationValue + 1

const (
	// MaxChildBytes is how large a Deployment or PodDisruptionBudget can be that the caches keep. It leaves room for what others add to the
	// Deployment of the largest PodSet.
	MaxChildBytes = 4 * appsv1alpha1.MaxTemplateBytes
	// maxOwnerBytes is more than a reference to a PodSet can have.
	maxOwnerBytes = 1 << 10
)

// CacheOptions returns what the caches keep. A Node of a real cluster has about 14 KiB, most of it images, of which the
// controllers read about 2; a Pod is watched for where it runs and whether it lives. What many of them have in common is in memory once. Nothing
// that comes from these caches may be sent back as a whole: it would erase what was left out.
func CacheOptions(scheme *runtime.Scheme) cache.Options {
	in := newInterner()
	return cache.Options{
		Scheme:           scheme,
		NewInformer:      NewInformer,
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&appsv1.Deployment{}:            {Transform: trimDeployment},
			&policyv1.PodDisruptionBudget{}: {Transform: trimBudget},
			&appsv1alpha1.PodSet{}:          {Transform: trimPodSet},
			&corev1.Node{}:                  {Transform: trimNode(in)},

			&appsv1alpha1.PodBuggerTool{}:            {Transform: trimNotes},
			&cloudnativev1alpha1.VirtualMachine{}:    {Transform: trimNotes},
			&clusterprovisionerv1alpha1.Cluster{}:    {Transform: trimNotes},
			&clusterprovisionerv1alpha1.Kubeconfig{}: {Transform: trimNotes},
			&corev1.Pod{}: {
				Transform: trimPod(in),
				Label:     labels.SelectorFromSet(labels.Set{appsv1alpha1.LabelApp: appsv1alpha1.LabelAppValue}),
			},
		},
	}
}

// ClientOptions returns options for a client whose reads come from the cache and wait until the cache has seen what the
// client itself wrote, so that no pass decides on a state from before its own last write.
func ClientOptions(scheme *runtime.Scheme) client.Options {
	consistent := true
	return client.Options{
		Scheme: scheme,
		Cache:  &client.CacheOptions{EnableReadYourWritesConsistency: &consistent},
	}
}

// trimNotes drops who manages which field, and cuts the annotations as a node's are: kubectl keeps a copy of the whole object in one.
func trimNotes(object any) (any, error) {
	if described, ok := object.(metav1.Object); ok {
		described.SetManagedFields(nil)
		shorten(described.GetAnnotations())
	}
	return object, nil
}

// trimNode keeps identity, labels, annotations, taints, and of the status what pools add up.
func trimNode(in *interner) func(any) (any, error) {
	return func(object any) (any, error) {
		node, ok := object.(*corev1.Node)
		if !ok {
			return object, nil
		}
		annotations := node.Annotations
		node.ObjectMeta = trimMeta(&node.ObjectMeta)
		node.Annotations = shorten(annotations)
		node.Spec = corev1.NodeSpec{Taints: node.Spec.Taints, Unschedulable: node.Spec.Unschedulable}
		node.Status = corev1.NodeStatus{
			Capacity:        in.resources(node.Status.Capacity),
			Allocatable:     in.resources(node.Status.Allocatable),
			Addresses:       node.Status.Addresses,
			RuntimeHandlers: node.Status.RuntimeHandlers,
			Conditions:      readyOnly(node.Status.Conditions),
		}
		in.meta(&node.ObjectMeta)
		in.taints(node.Spec.Taints)
		return node, nil
	}
}

// readyOnly keeps the Ready condition without its heartbeat, which changes without meaning anything.
func readyOnly(conditions []corev1.NodeCondition) []corev1.NodeCondition {
	for _, condition := range conditions {
		if condition.Type == corev1.NodeReady {
			return []corev1.NodeCondition{{Type: condition.Type, Status: condition.Status, Reason: condition.Reason}}
		}
	}
	return nil
}

// trimPod keeps identity, labels, owners, the node and the phase.
func trimPod(in *interner) func(any) (any, error) {
	return func(object any) (any, error) {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return object, nil
		}
		pod.ObjectMeta = trimMeta(&pod.ObjectMeta)
		pod.Spec = corev1.PodSpec{NodeName: in.one(pod.Spec.NodeName), RuntimeClassName: pod.Spec.RuntimeClassName}
		pod.Status = corev1.PodStatus{Phase: pod.Status.Phase}
		in.meta(&pod.ObjectMeta)
		return pod, nil
	}
}

// droppedBytes is the annotation with which the caches note the size of what they dropped. A key with two slashes is invalid for API servers,
// so no user can set it.
const droppedBytes = "windlass.io/dropped/bytes"

// Dropped returns how many bytes the caches dropped of an object because they were too many: the template of a PodSet, or a child of one. It is
// empty if they dropped none.
func Dropped(object client.Object) string { return object.GetAnnotations()[droppedBytes] }

// trimPodSet drops a template that is too large, and notes its size: users who create PodSets must not be able to fill the manager's memory.
// The annotations are cut as a node's are; kubectl keeps a copy of the template in one. As every transform, it can be called with its own
// result: informers do so with what they listed.
func trimPodSet(object any) (any, error) {
	podSet, ok := object.(*appsv1alpha1.PodSet)
	if !ok {
		return object, nil
	}
	podSet.ManagedFields = nil
	podSet.Annotations = shorten(podSet.Annotations)
	if size := podSet.Spec.Template.Size(); size > appsv1alpha1.MaxTemplateBytes {
		podSet.Spec.Template = nil
		metav1.SetMetaDataAnnotation(&podSet.ObjectMeta, droppedBytes, strconv.Itoa(size))
	}
	return podSet, nil
}

// trimDeployment keeps of a Deployment that is no PodSet's only that it is there: its name may be in the way of a PodSet's. Of one that is too
// large it keeps whose it is and how many pods it has: its labels and its owner are anybody's to write.
func trimDeployment(object any) (any, error) {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		return object, nil
	}
	deployment.ManagedFields, deployment.Annotations = nil, shorten(deployment.Annotations)
	if owner := podSetOf(deployment); owner == nil {
		deployment.ObjectMeta = trimChild(&deployment.ObjectMeta)
		deployment.Spec, deployment.Status = appsv1.DeploymentSpec{}, appsv1.DeploymentStatus{}
	} else if size := deployment.Size(); size > MaxChildBytes {
		deployment.ObjectMeta = trimChild(&deployment.ObjectMeta, *owner)
		deployment.Spec = appsv1.DeploymentSpec{Replicas: deployment.Spec.Replicas}
		metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, droppedBytes, strconv.Itoa(size))
	}
	return deployment, nil
}

// trimBudget keeps of a PodDisruptionBudget what trimDeployment keeps of a Deployment. Nobody reads its status.
func trimBudget(object any) (any, error) {
	budget, ok := object.(*policyv1.PodDisruptionBudget)
	if !ok {
		return object, nil
	}
	budget.ManagedFields, budget.Annotations = nil, shorten(budget.Annotations)
	budget.Status = policyv1.PodDisruptionBudgetStatus{}
	if owner := podSetOf(budget); owner == nil {
		budget.ObjectMeta, budget.Spec = trimChild(&budget.ObjectMeta), policyv1.PodDisruptionBudgetSpec{}
	} else if size := budget.Size(); size > MaxChildBytes {
		budget.ObjectMeta, budget.Spec = trimChild(&budget.ObjectMeta, *owner), policyv1.PodDisruptionBudgetSpec{}
		metav1.SetMetaDataAnnotation(&budget.ObjectMeta, droppedBytes, strconv.Itoa(size))
	}
	return budget, nil
}

// podSetOf returns the reference by which an object names a PodSet as its controller, nil if it names none. The API server bounds no part of it.
func podSetOf(object metav1.Object) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(object)
	if owner == nil || owner.Size() > maxOwnerBytes || owner.Kind != "PodSet" ||
		schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).Group != appsv1alpha1.GroupName {
		return nil
	}
	return owner
}

// shorten cuts annotations that are longer than a pool's can be: it only has to be seen that they are there and different.
// Windlass' own record is kept whole.
func shorten(annotations map[string]string) map[string]string {
	for key, value := range annotations {
		if len(value) > maxAnnotation && key != nodesv1.AppliedAnnotation {
			annotations[key] = beginning(value)
		}
	}
	return annotations
}

// beginning returns the first characters of a value. It cuts none: a part of one is replaced wherever the value is written down, and is then
// another value.
func beginning(value string) string {
	characters := 0
	for i := range value {
		if characters == maxAnnotation {
			return strings.Clone(value[:i])
		}
		characters++
	}
	return value
}

// trimChild keeps what identifies an object, and of its owners those that are given.
func trimChild(meta *metav1.ObjectMeta, owners ...metav1.OwnerReference) metav1.ObjectMeta {
	out := trimMeta(meta)
	out.Labels, out.OwnerReferences = nil, owners
	return out
}

// trimMeta keeps what identifies an object.
func trimMeta(meta *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:              meta.Name,
		Namespace:         meta.Namespace,
		UID:               meta.UID,
		ResourceVersion:   meta.ResourceVersion,
		Generation:        meta.Generation,
		CreationTimestamp: meta.CreationTimestamp,
		DeletionTimestamp: meta.DeletionTimestamp,
		Labels:            meta.Labels,
		OwnerReferences:   meta.OwnerReferences,
	}
}
