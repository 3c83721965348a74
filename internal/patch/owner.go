// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Owner returns the reference by which a child names owner, an object of that kind, as its controller. The child is garbage-collected
// after its owner, and a foreground deletion of the owner waits for the child.
func Owner(owner client.Object, kind schema.GroupVersionKind) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(kind.GroupVersion().String()).WithKind(kind.Kind).
		WithName(owner.GetName()).WithUID(owner.GetUID()).
		WithController(true).WithBlockOwnerDeletion(true)
}
