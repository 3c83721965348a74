// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/operation"
)

// Notices turns what happens on hosts into wake-ups of objects.
type Notices struct {
	// Client reads from a cache with the indexes of kube.AddMachineIndexes.
	Client     client.Reader
	Operations *operation.Runner
	// Wake queues an object.
	Wake func(types.NamespacedName)
	Log  logr.Logger
}

// Notify wakes the objects that the notice is about. A fleet calls it.
func (n *Notices) Notify(ctx context.Context, notice fleet.Notice) {
	switch notice.Kind {
	case fleet.MachineChanged:
		key := types.NamespacedName{Namespace: notice.Event.Namespace, Name: notice.Event.Name}
		if op := n.Operations.Look(key, types.UID(notice.Event.UID)); !op.Running() {
			n.Wake(key) // a running operation wakes the object when it ends
		}
	case fleet.HostUp, fleet.HostDown:
		n.wakeAll(ctx, notice.Host)
		n.wakeAll(ctx, "") // which may find a host now
	case fleet.WatchStarted:
		n.wakeAll(ctx, notice.Host)
	}
}

// wakeAll wakes all objects whose machines are on the host. An empty name stands for the objects without a host.
func (n *Notices) wakeAll(ctx context.Context, host string) {
	var list cloudnativev1alpha1.VirtualMachineList
	if err := n.Client.List(ctx, &list, client.MatchingFields{kube.MachineHostField: host}, client.UnsafeDisableDeepCopy); err != nil {
		n.Log.Error(err, "Cannot find the machines of a host", "host", host)
		return
	}
	for i := range list.Items {
		n.Wake(client.ObjectKeyFromObject(&list.Items[i]))
	}
}
