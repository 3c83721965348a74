// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/status"
)

// FieldOwner is the name under which Windlass writes.
const FieldOwner = client.FieldOwner("windlass")

// Status writes the status of after where it differs from that of before, and reports whether it wrote. The write carries
// the resourceVersion: a status computed from an old object is refused with a conflict instead of being merged.
func Status[T status.Object](ctx context.Context, c client.Client, before, after T) (bool, error) {
	if equality.Semantic.DeepEqual(before, after) {
		return false, nil
	}
	base := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, after, base, FieldOwner); err != nil {
		return false, fmt.Errorf("cannot write status of %q: %w", client.ObjectKeyFromObject(after), err)
	}
	return true, nil
}

// AddFinalizer makes sure that obj has the finalizer, and reports whether it wrote.
func AddFinalizer(ctx context.Context, c client.Client, obj client.Object, finalizer string) (bool, error) {
	if slices.Contains(obj.GetFinalizers(), finalizer) {
		return false, nil
	}
	return true, setFinalizers(ctx, c, obj, append(slices.Clone(obj.GetFinalizers()), finalizer))
}

// RemoveFinalizers takes the named finalizers off obj, and reports whether it wrote. An object that is already gone is
// what was wanted.
func RemoveFinalizers(ctx context.Context, c client.Client, obj client.Object, finalizers ...string) (bool, error) {
	kept := slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), func(f string) bool {
		return slices.Contains(finalizers, f)
	})
	if len(kept) == len(obj.GetFinalizers()) {
		return false, nil
	}
	err := setFinalizers(ctx, c, obj, kept)
	return err == nil, client.IgnoreNotFound(err)
}

// RemoveAnnotation takes the annotation off obj, if obj is as it was read: what somebody has written meanwhile stays.
func RemoveAnnotation(ctx context.Context, c client.Client, obj client.Object, key string) error {
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("cannot copy %T: no client.Object", obj)
	}
	kept := obj.GetAnnotations()
	delete(kept, key)
	obj.SetAnnotations(kept)
	base := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, obj, base, FieldOwner); err != nil {
		obj.SetAnnotations(before.GetAnnotations())
		return fmt.Errorf("cannot remove the annotation %s of %q: %w", key, client.ObjectKeyFromObject(obj), err)
	}
	return nil
}

// AddOwner makes sure that obj names the owner: the garbage collector deletes obj once its owners are gone, and at once in a deletion of the owner in
// the foreground. An object that is already gone is what was wanted.
func AddOwner(ctx context.Context, c client.Client, obj client.Object, owner metav1.OwnerReference) error {
	owners := obj.GetOwnerReferences()
	if slices.ContainsFunc(owners, func(has metav1.OwnerReference) bool { return has.UID == owner.UID }) {
		return nil
	}
	return client.IgnoreNotFound(setOwners(ctx, c, obj, append(slices.Clone(owners), owner)))
}

// RemoveOwner makes sure that obj does not name the owner with that UID. To an object that is already gone it does nothing.
func RemoveOwner(ctx context.Context, c client.Client, obj client.Object, owner types.UID) error {
	kept := slices.DeleteFunc(slices.Clone(obj.GetOwnerReferences()), func(has metav1.OwnerReference) bool { return has.UID == owner })
	if len(kept) == len(obj.GetOwnerReferences()) {
		return nil
	}
	return client.IgnoreNotFound(setOwners(ctx, c, obj, kept))
}

// setOwners replaces the list, guarded by the resourceVersion because a merge patch replaces lists as a whole.
func setOwners(ctx context.Context, c client.Client, obj client.Object, owners []metav1.OwnerReference) error {
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("cannot copy %T: no client.Object", obj)
	}
	obj.SetOwnerReferences(owners)
	base := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, obj, base, FieldOwner); err != nil {
		return fmt.Errorf("cannot write owners of %q: %w", client.ObjectKeyFromObject(before), err)
	}
	return nil
}

// setFinalizers replaces the list, guarded by the resourceVersion because a merge patch replaces lists as a whole.
func setFinalizers(ctx context.Context, c client.Client, obj client.Object, finalizers []string) error {
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("cannot copy %T: no client.Object", obj)
	}
	obj.SetFinalizers(finalizers)
	base := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, obj, base, FieldOwner); err != nil {
		return fmt.Errorf("cannot write finalizers of %q: %w", client.ObjectKeyFromObject(obj), err)
	}
	return nil
}
