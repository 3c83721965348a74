// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
)

// disownStore takes the Cluster off the owners of the Secret with the tool's state. Earlier versions have made it one, and so has a pass that was about
// to let the Cluster go, before somebody decided otherwise.
func (r *Reconciler) disownStore(ctx context.Context, pass *scope) error {
	if pass.seen.holder == nil {
		return nil
	}
	if err := patch.RemoveOwner(ctx, r.direct, pass.seen.holder, pass.Object.UID); err != nil {
		return fmt.Errorf("cannot keep Secret %s from the garbage collector: %w", client.ObjectKeyFromObject(pass.seen.holder), err)
	}
	return nil
}

// ownStore has the garbage collector delete the Secret with the tool's state, once the Cluster is gone. It is not deleted here: until the finalizer
// has gone, a pass that is repeated may have to read it.
func (r *Reconciler) ownStore(ctx context.Context, pass *scope) error {
	if pass.seen.holder == nil {
		return nil
	}
	kind := clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Cluster")
	reference := metav1.OwnerReference{
		APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: pass.Object.Name, UID: pass.Object.UID, BlockOwnerDeletion: new(true),
	}
	if err := patch.AddOwner(ctx, r.direct, pass.seen.holder, reference); err != nil {
		return fmt.Errorf("cannot leave Secret %s to the garbage collector: %w", client.ObjectKeyFromObject(pass.seen.holder), err)
	}
	return nil
}
