// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
)

// aMachine returns the article's VirtualMachine, changed as asked.
func aMachine(change ...func(*cloudnativev1alpha1.VirtualMachine)) *cloudnativev1alpha1.VirtualMachine {
	machine := &cloudnativev1alpha1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test-vm", UID: "5a1b0f5e-0000-4000-8000-000000000001", Generation: 1},
		Spec: cloudnativev1alpha1.VirtualMachineSpec{Resource: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4G"),
		}},
	}
	for _, c := range change {
		if c != nil {
			c(machine)
		}
	}
	return machine
}
