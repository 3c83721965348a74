// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodBuilder builds a Pod.
type PodBuilder struct {
	Object[*corev1.Pod, *PodBuilder]
}

// Pod starts a pod without containers in the namespace default.
func Pod(name string) *PodBuilder {
	b := &PodBuilder{}
	b.object, b.self = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}, b
	return b
}

// Label adds a label.
func (b *PodBuilder) Label(key, value string) *PodBuilder { return b.MetaLabel(key, value) }

// Node places the pod on a node.
func (b *PodBuilder) Node(name string) *PodBuilder {
	b.object.Spec.NodeName = name
	return b
}

// Phase sets the phase.
func (b *PodBuilder) Phase(phase corev1.PodPhase) *PodBuilder {
	b.object.Status.Phase = phase
	return b
}

// Owner makes an object of a kind the controller of the pod.
func (b *PodBuilder) Owner(kind, name string) *PodBuilder {
	b.object.OwnerReferences = append(b.object.OwnerReferences, metav1.OwnerReference{Kind: kind, Name: name, Controller: new(true)})
	return b
}

// Requests adds a container that requests resources: "cpu", "500m".
func (b *PodBuilder) Requests(pairs ...string) *PodBuilder {
	b.object.Spec.Containers = append(b.object.Spec.Containers, Container(pairs...))
	return b
}

// Limits limits the container that was added last.
func (b *PodBuilder) Limits(pairs ...string) *PodBuilder {
	containers := b.object.Spec.Containers
	containers[len(containers)-1].Resources.Limits = Resources(pairs...)
	return b
}

// Init adds containers that run before the others.
func (b *PodBuilder) Init(containers ...corev1.Container) *PodBuilder {
	b.object.Spec.InitContainers = append(b.object.Spec.InitContainers, containers...)
	return b
}

// Container returns a container that requests resources.
func Container(pairs ...string) corev1.Container {
	container := corev1.Container{}
	if len(pairs) > 0 {
		container.Resources.Requests = Resources(pairs...)
	}
	return container
}

// Sidecar returns an init container that keeps running beside the others.
func Sidecar(pairs ...string) corev1.Container {
	container := Container(pairs...)
	container.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	return container
}
