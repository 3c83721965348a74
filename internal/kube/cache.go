// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// maxAnnotation is how much the caches keep of a node's annotation, in characters: one more than a pool's value can have.
const maxAnnotation = nodesv1.MaxAnnotationValue + 1

// CacheOptions returns what the caches keep. A Node of a real cluster has about 14 KiB, most of it images, of which the
// controllers read about 2; a Pod is watched for where it runs and whether it lives. Nothing that comes from these
// caches may be sent back as a whole: it would erase what was left out.
func CacheOptions(scheme *runtime.Scheme) cache.Options {
	return cache.Options{
		Scheme:           scheme,
		NewInformer:      NewInformer,
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&appsv1.Deployment{}:   {Transform: trimDeployment},
			&appsv1alpha1.PodSet{}: {Transform: trimPodSet},
			&corev1.Node{}:         {Transform: trimNode},

			&appsv1alpha1.PodBuggerTool{}:            {Transform: trimNotes},
			&cloudnativev1alpha1.VirtualMachine{}:    {Transform: trimNotes},
			&clusterprovisionerv1alpha1.Cluster{}:    {Transform: trimNotes},
			&clusterprovisionerv1alpha1.Kubeconfig{}: {Transform: trimNotes},
			&corev1.Pod{}: {
				Transform: trimPod,
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
func trimNode(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	annotations := node.Annotations
	node.ObjectMeta = trimMeta(&node.ObjectMeta)
	node.Annotations = shorten(annotations)
	node.Spec = corev1.NodeSpec{Taints: node.Spec.Taints, Unschedulable: node.Spec.Unschedulable}
	node.Status = corev1.NodeStatus{
		Capacity:        node.Status.Capacity,
		Allocatable:     node.Status.Allocatable,
		Addresses:       node.Status.Addresses,
		RuntimeHandlers: node.Status.RuntimeHandlers,
		Conditions:      readyOnly(node.Status.Conditions),
	}
	return node, nil
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
func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	pod.ObjectMeta = trimMeta(&pod.ObjectMeta)
	pod.Spec = corev1.PodSpec{NodeName: pod.Spec.NodeName, RuntimeClassName: pod.Spec.RuntimeClassName}
	pod.Status = corev1.PodStatus{Phase: pod.Status.Phase}
	return pod, nil
}

// templateBytes is the annotation with which the caches note the size of a template that they dropped. A key with two slashes is invalid
// for API servers, so no user can set it.
const templateBytes = "windlass.io/dropped/template-bytes"

// DroppedTemplate returns how many bytes the template of a PodSet from the caches has if they dropped it, and else an empty string.
func DroppedTemplate(podSet *appsv1alpha1.PodSet) string { return podSet.Annotations[templateBytes] }

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
		metav1.SetMetaDataAnnotation(&podSet.ObjectMeta, templateBytes, strconv.Itoa(size))
	}
	return podSet, nil
}

// trimDeployment keeps of a Deployment that is no PodSet's only that it is there, and whose it is: its name may be in the
// way of a PodSet's.
func trimDeployment(object any) (any, error) {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		return object, nil
	}
	deployment.ManagedFields = nil
	if deployment.Labels[appsv1alpha1.LabelApp] != appsv1alpha1.LabelAppValue {
		deployment.ObjectMeta = trimMeta(&deployment.ObjectMeta)
		deployment.Spec, deployment.Status = appsv1.DeploymentSpec{}, appsv1.DeploymentStatus{}
	}
	return deployment, nil
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
