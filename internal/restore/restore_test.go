// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// newRestorer returns one for managers in the namespace, whose Lease has a name of its own: tests share an API server. Waiting takes no time.
func newRestorer(h *testkit.Harness, namespace string) *Restorer {
	return &Restorer{
		Client: h.Live, Out: io.Discard, Now: h.Clock.Now, Lease: client.ObjectKey{Namespace: namespace, Name: namespace},
		After: func(d time.Duration) <-chan time.Time { h.Clock.Step(d); return time.After(0) },
	}
}

// cutOff is a client that creates objects, and loses the API server before it has written a status.
type cutOff struct{ client.Client }

// Status implements client.Client.
func (c cutOff) Status() client.SubResourceWriter { return unwritable{c.Client.Status()} }

type unwritable struct{ client.SubResourceWriter }

// Patch implements client.SubResourceWriter.
func (unwritable) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return errors.New("connection refused")
}

// The API server shows a default where a restore was broken off before it had written a status. The next restore took that for a status, and machines
// were made a second time.
func TestARepeatedRestoreWritesTheStatusesThatAreMissing(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	vm := build.Machine("one").Namespace(h.Namespace(t)).Size("cpu", "1", "memory", "1G").Obj()
	h.Create(t, vm)
	want := cloudnativev1alpha1.Server{Driver: cloudnativev1alpha1.DriverDocker, Host: "a", ID: "container"}
	testkit.EditStatus(t, h, vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Status.Server = want.DeepCopy()
		vm.Status.Conditions = []metav1.Condition{{
			Type: status.Ready, Status: metav1.ConditionTrue, Reason: "Running", LastTransitionTime: metav1.NewTime(h.Clock.Now()),
		}}
	})
	want.UID = string(vm.UID)
	saved, key := &unstructured.Unstructured{}, client.ObjectKeyFromObject(vm)
	saved.SetGroupVersionKind(cloudnativev1alpha1.SchemeGroupVersion.WithKind("VirtualMachine"))
	if err := h.Live.Get(t.Context(), key, saved); err != nil {
		t.Fatal(err)
	}
	if err := h.Live.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}

	backup := []*unstructured.Unstructured{saved}
	restorer := newRestorer(h, vm.Namespace)
	restorer.Client = cutOff{h.Live}
	if err := restorer.Restore(t.Context(), backup); err == nil {
		t.Fatal("the restore is not broken off")
	}
	restorer.Client = h.Live
	for range 2 { // the second time, there is a status that stays
		if err := restorer.Restore(t.Context(), backup); err != nil {
			t.Fatal(err)
		}
	}
	restored := &cloudnativev1alpha1.VirtualMachine{}
	if err := h.Live.Get(t.Context(), key, restored); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, restored.Status.Server); diff != "" || restored.UID == vm.UID {
		t.Errorf("the object with the UID %q names the machine (-want +got):\n%s", restored.UID, diff)
	}
}
