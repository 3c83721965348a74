// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/event"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
)

func TestUsageIsNoNews(t *testing.T) {
	t.Parallel()
	was := aMachine(func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Status.Server = &cloudnativev1alpha1.Server{ID: "x"} })
	is := was.DeepCopy()
	is.Status.Server.Usage, is.ResourceVersion = &cloudnativev1alpha1.Usage{CPU: 1}, "2"
	if changed().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}) {
		t.Error("usage wakes up the controller")
	}
	is.Generation++
	if !changed().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}) {
		t.Error("a change of the spec does not")
	}
}

func TestFinalizerThatIsRemovedIsNews(t *testing.T) {
	t.Parallel()
	was := aMachine(func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Finalizers = []string{cloudnativev1alpha1.Finalizer} })
	is := was.DeepCopy()
	is.Finalizers = nil
	if !changed().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}) {
		t.Error("nobody adds the finalizer again")
	}
}
