// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
)

// MachineBuilder builds a VirtualMachine.
type MachineBuilder struct {
	Object[*cloudnativev1alpha1.VirtualMachine, *MachineBuilder]
}

// Machine starts a virtual machine of generation 1 without limits in the namespace default.
func Machine(name string) *MachineBuilder {
	b := &MachineBuilder{}
	b.object, b.self = &cloudnativev1alpha1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name, Generation: 1},
		Spec:       cloudnativev1alpha1.VirtualMachineSpec{Resource: corev1.ResourceList{}},
	}, b
	return b
}

// Size sets sizes by name and quantity: "cpu", "2", "memory", "4G".
func (b *MachineBuilder) Size(pairs ...string) *MachineBuilder {
	maps.Copy(b.object.Spec.Resource, Resources(pairs...))
	return b
}

// Driver sets the driver that is asked for.
func (b *MachineBuilder) Driver(driver cloudnativev1alpha1.Driver) *MachineBuilder {
	b.object.Spec.Driver = driver
	return b
}

// Host sets the host that is asked for.
func (b *MachineBuilder) Host(name string) *MachineBuilder {
	b.object.Spec.Host = name
	return b
}

// RunStrategy sets when the machine runs.
func (b *MachineBuilder) RunStrategy(strategy cloudnativev1alpha1.RunStrategy) *MachineBuilder {
	b.object.Spec.RunStrategy = strategy
	return b
}
