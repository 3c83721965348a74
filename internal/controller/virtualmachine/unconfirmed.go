// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"encoding/json"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/status"
)

// unconfirmed remembers what passes have written into the status about operations that have ended, until the API server confirms it. A write
// can take effect although its answer is lost. Then the next pass must not count the same restart or the same failure again.
type unconfirmed struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]accounted
}

// accounted is the status that takes the end of an operation into account.
type accounted struct {
	began  time.Time
	status string
	events []event.Event
}

// describe writes the status, and remembers it if it takes the end of an operation into account. It also remembers when Windlass no longer keeps a
// machine suspended, and what became of a stop.
func (r *Reconciler) describe(pass *scope, outcome flow.Outcome) *status.Marks {
	marks := describe(pass, outcome)
	if pass.settled && pass.seen.op.Ended() {
		r.unconfirmed.add(pass, statusText(&tried(pass, marks, outcome).Status))
		r.noteStop(client.ObjectKeyFromObject(pass.Object), *pass.seen.op, pass.Now)
	}
	if stopsLate(pass) {
		r.givenUp.Set(client.ObjectKeyFromObject(pass.Object), pass.Now.Add(powerOffOf(pass.Object).Grace+machine.Settling))
	}
	if keptSuspended(pass.Before) && !keptSuspended(pass.Object) {
		r.unkept.Set(client.ObjectKeyFromObject(pass.Object), pass.Now)
	}
	return marks
}

// noteStop remembers how long a stop that was given up may still turn its machine off: the host was asked for it, and most hosts go on. A machine that
// was started since has nothing to do with it.
func (r *Reconciler) noteStop(key client.ObjectKey, op operation.Progress, now time.Time) {
	switch {
	case op.Canceled && (op.At == operation.Stop || op.At == operation.Replace):
		r.givenUp.Set(key, now.Add(op.PowerOff.Grace+machine.Settling))
	case op.Err == nil && op.Has(operation.Start):
		r.givenUp.Drop(key)
	}
}

func (u *unconfirmed) add(pass *scope, text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byKey == nil {
		u.byKey = map[types.NamespacedName]accounted{}
	}
	u.byKey[client.ObjectKeyFromObject(pass.Object)] = accounted{pass.seen.op.Began, text, pass.decision.events}
}

// take reports whether the status takes the end of the operation into account already, and returns the events that wait for this.
func (u *unconfirmed) take(vm *cloudnativev1alpha1.VirtualMachine, op *operation.Progress) ([]event.Event, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := client.ObjectKeyFromObject(vm)
	told, ok := u.byKey[key]
	if !ok {
		return nil, false
	}
	delete(u.byKey, key)
	return told.events, op.Ended() && told.began.Equal(op.Began) && told.status == statusText(&vm.Status)
}

func (u *unconfirmed) drop(key types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.byKey, key)
}

// statusText is the status as the API server keeps it, without what another controller writes.
func statusText(of *cloudnativev1alpha1.VirtualMachineStatus) string {
	of = of.DeepCopy()
	if of.Server != nil {
		of.Server.Usage = nil
	}
	text, err := json.Marshal(of)
	if err != nil {
		return ""
	}
	return string(text)
}
