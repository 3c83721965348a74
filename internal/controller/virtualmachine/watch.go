// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
)

// queue is what wakes objects up.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// bell wakes objects up from outside of the API: because of what happens on hosts. Before the controller has started nothing
// has to be woken up, since every object has its first pass then.
type bell struct {
	mu    sync.Mutex
	queue queue
}

// Start implements source.Source's function: it is called when the controller starts.
func (b *bell) start(_ context.Context, q queue) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = q
	return nil
}

func (b *bell) ring(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queue != nil {
		b.queue.Add(reconcile.Request{NamespacedName: key})
	}
}

// notify is told by the fleet what happens on hosts.
func (r *Reconciler) notify(ctx context.Context, notice fleet.Notice) {
	switch notice.Kind {
	case fleet.MachineChanged:
		key := types.NamespacedName{Namespace: notice.Event.Namespace, Name: notice.Event.Name}
		if op := r.operations.look(key, types.UID(notice.Event.UID)); !op.running() {
			r.bell.ring(key) // while an operation goes on, its own end wakes the object up
		}
	case fleet.HostUp, fleet.HostDown:
		markHostUp(notice.Host, notice.Kind == fleet.HostUp)
		r.wake(ctx, notice.Host)
		r.wake(ctx, "") // which may find a place now
	case fleet.WatchStarted:
		r.wake(ctx, notice.Host)
	}
}

// wake wakes up all objects whose machines are on the host; those without a host for an empty name.
func (r *Reconciler) wake(ctx context.Context, host string) {
	var list cloudnativev1alpha1.VirtualMachineList
	if err := r.client.List(ctx, &list, client.MatchingFields{indexHost: host}, client.UnsafeDisableDeepCopy); err != nil {
		r.log.Error(err, "Cannot find the machines of a host", "host", host)
		return
	}
	for i := range list.Items {
		r.bell.ring(client.ObjectKeyFromObject(&list.Items[i]))
	}
}
