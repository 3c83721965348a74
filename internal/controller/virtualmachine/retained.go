// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
)

// retainedName is the ConfigMap in the manager's own namespace that lists machines which stay although their objects are gone.
const retainedName = "windlass-retained-machines"

// retainedList is that list: without it, a sweep would take a machine that was left on purpose for one that was forgotten. An entry
// goes when its machine does.
type retainedList struct {
	client    client.Client
	live      client.Reader
	namespace string
}

// add notes that the machine stays.
func (l *retainedList) add(ctx context.Context, vm *cloudnativev1alpha1.VirtualMachine, at location) error {
	entry := fmt.Sprintf("%s %s/%s", at, vm.Namespace, vm.Name)
	err := l.write(ctx, map[string]any{string(vm.UID): entry})
	if !apierrors.IsNotFound(err) {
		return err
	}
	err = l.client.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: retainedName},
		Data:       map[string]string{string(vm.UID): entry},
	}, patch.FieldOwner, client.DisableReadYourWritesConsistency)
	if apierrors.IsAlreadyExists(err) {
		return l.write(ctx, map[string]any{string(vm.UID): entry})
	}
	return err
}

// of returns the UIDs of the machines that stay on the host.
func (l *retainedList) of(ctx context.Context, host string) (map[string]bool, error) {
	var list corev1.ConfigMap
	err := l.live.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: retainedName}, &list)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("cannot read which machines stay: %w", err)
	}
	out := map[string]bool{}
	for uid, entry := range list.Data {
		where, _, _ := strings.Cut(entry, " ")
		if _, name, _ := strings.Cut(where, "/"); name == host {
			out[uid] = true
		}
	}
	return out, nil
}

// prune drops the entries of machines that are no longer on the host.
func (l *retainedList) prune(ctx context.Context, host string, present map[string]bool) error {
	stay, err := l.of(ctx, host)
	if err != nil {
		return err
	}
	gone := map[string]any{}
	for uid := range stay {
		if !present[uid] {
			gone[uid] = nil // which a merge patch reads as: delete
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return client.IgnoreNotFound(l.write(ctx, gone))
}

func (l *retainedList) write(ctx context.Context, entries map[string]any) error {
	body, err := json.Marshal(map[string]any{"data": entries})
	if err != nil {
		return fmt.Errorf("cannot write which machines stay: %w", err)
	}
	list := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: retainedName}}
	// Nobody waits for a cache to see this: it would have to hold every ConfigMap of the cluster.
	return l.client.Patch(ctx, list, client.RawPatch(types.MergePatchType, body), patch.FieldOwner,
		client.DisableReadYourWritesConsistency)
}
