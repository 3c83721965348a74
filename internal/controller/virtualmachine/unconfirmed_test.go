// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// deaf loses the answer to the next status write, which takes effect or not.
type deaf struct {
	client.Client

	next, takesEffect bool
}

// Status implements client.Client.
func (d *deaf) Status() client.SubResourceWriter { return &deafStatus{d.Client.Status(), d} }

type deafStatus struct {
	client.SubResourceWriter

	deaf *deaf
}

var errLost = errors.New("the answer was lost")

// Patch implements client.SubResourceWriter.
func (d *deafStatus) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	lost := d.deaf.next
	d.deaf.next = false
	if lost && !d.deaf.takesEffect {
		return errLost
	}
	if err := d.SubResourceWriter.Patch(ctx, object, patch, options...); err != nil || lost {
		return errors.Join(err, errLost)
	}
	return nil
}

// The status write that follows an operation took effect, but its answer was lost: the same restart or failure was counted again.
func TestWhatAnOperationDidIsCountedOnceIfTheAnswerIsLost(t *testing.T) {
	for sentence, takesEffect := range map[string]bool{"the write takes effect": true, "the write does not take effect": false} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t, simulated.Script{})
			vm := s.machine()
			var failures []int32
			s.hosts["a"].Inject(simulated.Fault{Call: simulated.CallStart, Times: 1})
			s.step(time.Minute)
			s.hosts["a"].Kill(identity(vm, "installation"))
			s.settle(vm)

			// The first start fails, and the second one succeeds.
			ears := &deaf{Client: s.Client, takesEffect: takesEffect}
			s.r.Client = ears
			s.Events.Take()
			for range 2 {
				s.step(45 * time.Second)
				failures = append(failures, s.operateDeaf(ears, vm))
			}
			s.settle(vm)
			s.want(vm, active, "Ready=True/Ready")
			if diff := cmp.Diff([]int32{2, 0}, failures); diff != "" || vm.Status.RestartCount != 1 {
				t.Errorf("after a crash, a start that failed and one that did not, there are %d restarts, and failures (-want +got):\n%s",
					vm.Status.RestartCount, diff)
			}
			s.wantEvents("StartFailed", "Started")
		})
	}
}

// operateDeaf begins an operation, and loses the answer to the first status write that follows its end. It returns how many failures the status
// then counts.
func (s *stage) operateDeaf(ears *deaf, vm *cloudnativev1alpha1.VirtualMachine) int32 {
	s.t.Helper()
	key := client.ObjectKeyFromObject(vm)
	s.pass(vm)
	testkit.Eventually(s.t, "the operation has ended", func() bool { return s.operations.Look(key, vm.UID).Ended() })
	ears.next = true
	if _, err := s.Reconcile(s.t, s.r, key); !errors.Is(err, errLost) {
		s.t.Fatalf("the pass that follows the operation ended with %v", err)
	}
	s.settle(vm)
	if vm.Status.StartFailure == nil {
		return 0
	}
	return vm.Status.StartFailure.Count
}
