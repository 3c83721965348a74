// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
)

// retainedName is the ConfigMap in the manager's own namespace that holds the list of retained machines.
const retainedName = "windlass-retained-machines"

// How many machines can be retained: of one namespace, so that no namespace takes the room of others, and in all, so that the list fits
// in an object.
const (
	maxRetainedOfNamespace = 100
	maxRetained            = 1500
)

// ErrTooManyRetained says that no further machine can be retained.
var ErrTooManyRetained = errors.New("too many retained machines")

// makeRoom says what helps, and when.
const makeRoom = "remove some from their hosts, which counts some half an hour later and while all hosts answer, or set deletionPolicy: Delete"

// RetainedList lists the machines that stay on their hosts although their objects are gone (deletionPolicy: Retain). Without
// it, a sweep takes such a machine for an orphan. An entry is removed when its machine is gone.
type RetainedList struct {
	// Client writes the list, and Live reads it past the cache.
	Client client.Client
	Live   client.Reader
	// Namespace is the manager's own.
	Namespace string
	// Configured are the names of the hosts that there are, empty if they are not known. Machines of other hosts stay on the list, because these can come back
	// or have got another name, and take no room of their namespaces: nobody can remove them.
	Configured []string
}

// Add records that the machine of vm stays where it is. ErrTooManyRetained if too many do already.
func (l *RetainedList) Add(ctx context.Context, vm *cloudnativev1alpha1.VirtualMachine, at Placement) error {
	uid, entry := string(MachineUIDOf(vm)), fmt.Sprintf("%s %s/%s", at, vm.Namespace, vm.Name)
	list, err := l.read(ctx)
	if err != nil {
		return err
	}
	if _, listed := list[uid]; !listed {
		if err := l.roomFor(vm.Namespace, at.Host, list); err != nil {
			return err
		}
	}
	err = l.write(ctx, map[string]any{uid: entry})
	if !apierrors.IsNotFound(err) {
		return err
	}
	err = l.Client.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: retainedName},
		Data:       map[string]string{uid: entry},
	}, patch.FieldOwner, client.DisableReadYourWritesConsistency)
	if apierrors.IsAlreadyExists(err) {
		return l.write(ctx, map[string]any{uid: entry})
	}
	return err
}

// Hosts returns the UIDs of the machines that stay, each with the host that was recorded. Such a machine stays on every host that has it: the
// administrator may give a host another name.
func (l *RetainedList) Hosts(ctx context.Context) (map[string]string, error) {
	list, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(list))
	for uid, entry := range list {
		out[uid] = hostOf(entry)
	}
	return out, nil
}

// hostOf returns the host that an entry names.
func hostOf(entry string) string {
	where, _, _ := strings.Cut(entry, " ")
	_, host, _ := strings.Cut(where, "/")
	return host
}

// isConfigured reports whether there is the host.
func (l *RetainedList) isConfigured(host string) bool {
	return len(l.Configured) == 0 || slices.Contains(l.Configured, host)
}

// Remove removes the entries with the UIDs.
func (l *RetainedList) Remove(ctx context.Context, uids ...string) error {
	if len(uids) == 0 {
		return nil
	}
	entries := make(map[string]any, len(uids))
	for _, uid := range uids {
		entries[uid] = nil // a merge patch deletes these keys
	}
	return client.IgnoreNotFound(l.write(ctx, entries))
}

// roomFor reports whether the list has room for one more machine of the namespace, on that host.
func (l *RetainedList) roomFor(namespace, host string, list map[string]string) error {
	same, gone := 0, 0
	for _, entry := range list {
		_, object, _ := strings.Cut(entry, " ")
		switch {
		case !l.isConfigured(hostOf(entry)):
			gone++
		case strings.HasPrefix(object, namespace+"/"):
			same++
		}
	}
	switch {
	case same >= maxRetainedOfNamespace && l.isConfigured(host):
		return fmt.Errorf("%w: namespace %q has %d; %s", ErrTooManyRetained, namespace, same, makeRoom)
	case len(list) >= maxRetained && gone > 0:
		return fmt.Errorf("%w: all namespaces together have %d; %s. On hosts that are not configured are %d of them: if these are gone for good, "+
			"remove their entries from ConfigMap %s/%s", ErrTooManyRetained, len(list), makeRoom, gone, l.Namespace, retainedName)
	case len(list) >= maxRetained:
		return fmt.Errorf("%w: all namespaces together have %d; %s", ErrTooManyRetained, len(list), makeRoom)
	default:
		return nil
	}
}

// read reads the list past the cache.
func (l *RetainedList) read(ctx context.Context) (map[string]string, error) {
	var list corev1.ConfigMap
	err := l.Live.Get(ctx, client.ObjectKey{Namespace: l.Namespace, Name: retainedName}, &list)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("cannot read the list of retained machines: %w", err)
	}
	return list.Data, nil
}

func (l *RetainedList) write(ctx context.Context, entries map[string]any) error {
	body, err := json.Marshal(map[string]any{"data": entries})
	if err != nil {
		return fmt.Errorf("cannot encode the list of retained machines: %w", err)
	}
	list := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: retainedName}}
	// The write waits for no cache: that cache would have to hold every ConfigMap of the cluster.
	return l.Client.Patch(ctx, list, client.RawPatch(types.MergePatchType, body), patch.FieldOwner,
		client.DisableReadYourWritesConsistency)
}
