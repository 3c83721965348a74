// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// knownAs has the status of an object name a machine, as anyone who may write the status can.
func (s *stage) knownAs(vm *cloudnativev1alpha1.VirtualMachine, server *cloudnativev1alpha1.Server) {
	s.t.Helper()
	before := vm.DeepCopy()
	vm.Status.Server = server
	if err := s.Live.Status().Patch(s.t.Context(), vm, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
	s.Sync(s.t)
}

// An object that is restored from a backup has another UID than the one that its machine was made for.
func TestARestoredObjectHasItsMachine(t *testing.T) {
	s := newStage(t, simulated.Script{})
	lost := s.machine(named("default", "one"))
	was := s.on("a", lost)
	server := lost.Status.Server.DeepCopy()
	server.UID = string(lost.UID)
	if err := s.Live.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	// The cluster is gone, and nobody removes the machine.
	if err := s.Live.Patch(t.Context(), lost, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	s.Sync(t)

	restored := s.create(named("default", "one"))
	s.knownAs(restored, server)
	s.restart()
	s.settle(restored)
	s.want(restored, active, "Ready=True/Ready")
	if is := s.on("a", restored); s.count("a") != 1 || is == nil || is.ID != was.ID || restored.Status.Server.UID != string(lost.UID) {
		t.Errorf("there are %d machines, and that of the object is %+v, want %+v; the status is %+v", s.count("a"), is, was, restored.Status.Server)
	}
	s.remove(restored)
	if s.count("a") != 0 || !s.gone(restored) {
		t.Errorf("there are %d machines after the object was deleted, want none; the object is gone: %t", s.count("a"), s.gone(restored))
	}
}

// Whoever may write a status could have an object take the machine of another one, and remove it.
func TestAttackAStatusNamesTheMachineOfAnother(t *testing.T) {
	s := newStage(t, simulated.Script{})
	victim, thief := s.machine(named("default", "victim")), s.machine(named("default", "thief"))
	server := thief.Status.Server.DeepCopy()
	server.UID = string(victim.UID)
	s.knownAs(thief, server)
	s.restart()
	s.settle(thief)
	s.want(thief, cloudnativev1alpha1.PhaseUnknown, "Ready=False/HostMismatch", "Stalled=True/HostMismatch")
	s.remove(thief)
	if s.on("a", victim) == nil || s.gone(thief) {
		t.Errorf("the machine of another object is %+v, and the object that named it is gone: %t", s.on("a", victim), s.gone(thief))
	}
	s.settle(victim)
	s.want(victim, active, "Ready=True/Ready")

	own := thief.Status.Server.DeepCopy()
	own.UID = ""
	s.knownAs(thief, own)
	s.settle(thief)
	if s.count("a") != 1 || !s.gone(thief) {
		t.Errorf("after an administrator mended the status, there are %d machines, want that of the other; the object is gone: %t", s.count("a"), s.gone(thief))
	}
}
