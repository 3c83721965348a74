// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/patch"
)

// The label of every object that this package describes.
const (
	// LabelManagedBy names the owner of an object.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "windlass"
)

// Object is an object that has to exist.
type Object struct {
	Ref

	// Config is what to apply. It carries patch.AppliedHashAnnotation.
	Config runtime.ApplyConfiguration

	// withUID adds a UID to Config.
	withUID func(types.UID) runtime.ApplyConfiguration
	// meanwhile returns the object for Meanwhile, nil for one that is the same at all times.
	meanwhile func(live client.Object) (Object, error)
}

// Update returns what to apply to the existing object with that UID. The API server answers with a conflict if that object is gone.
func (o Object) Update(uid types.UID) runtime.ApplyConfiguration { return o.withUID(uid) }

// CoveredBy reports whether live has every field of the object, and nothing else in its spec, so there is nothing to write.
func (o Object) CoveredBy(live client.Object) (bool, error) {
	// Objects that a typed client reads do not carry their kind.
	current, ok := live.DeepCopyObject().(client.Object)
	if !ok {
		return false, fmt.Errorf("cannot copy %T: not a client.Object", live)
	}
	current.GetObjectKind().SetGroupVersionKind(o.gvk())
	covered, err := patch.Covers(current, o.Config)
	if err != nil || !covered {
		return false, err
	}
	desired, err := o.typed()
	return err == nil && sameSpec(live, desired), err
}

// config is what the apply configurations of all four kinds have in common.
type config[T any] interface {
	runtime.ApplyConfiguration
	WithLabels(entries map[string]string) T
	WithAnnotations(entries map[string]string) T
	WithUID(uid types.UID) T
	WithOwnerReferences(values ...*metav1ac.OwnerReferenceApplyConfiguration) T
}

// shared returns an object that all pools share. It has no owner.
func shared[T config[T]](ref Ref, desired T) (Object, error) {
	return stamped(ref, desired.WithLabels(map[string]string{LabelManagedBy: ManagedBy}))
}

// owned returns an object that the pool owns and that is deleted with it.
func owned[T config[T]](pool *nodesv1.NodePool, ref Ref, desired T) (Object, error) {
	owner := patch.Owner(pool, nodesv1.SchemeGroupVersion.WithKind(kindNodePool))
	return stamped(ref, desired.WithLabels(labelsOf(pool)).WithOwnerReferences(owner))
}

// guarding returns an object that keeps pods from the pool. It has no owner: when a pool is deleted in the foreground, the garbage collector deletes
// all that it owns at once, and its nodes carry everything until the last pod has ended.
func guarding[T config[T]](pool *nodesv1.NodePool, ref Ref, desired T) (Object, error) {
	return stamped(ref, desired.WithLabels(labelsOf(pool)))
}

func labelsOf(pool *nodesv1.NodePool) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, nodesv1.PoolLabel: shortened(pool.Name)}
}

// PoolOf returns the name of the pool that an object of the cluster belongs to, or nothing for one that belongs to all pools or to somebody else.
func PoolOf(live client.Object) string {
	if owner := metav1.GetControllerOf(live); owner != nil {
		if owner.Kind != kindNodePool {
			return ""
		}
		return owner.Name
	}
	if !Managed(live) {
		return ""
	}
	return live.GetLabels()[nodesv1.PoolLabel]
}

func stamped[T config[T]](ref Ref, desired T) (Object, error) {
	hash, err := patch.Hash(desired)
	if err != nil {
		return Object{}, err
	}
	return Object{
		Ref:     ref,
		Config:  desired.WithAnnotations(map[string]string{patch.AppliedHashAnnotation: hash}),
		withUID: func(uid types.UID) runtime.ApplyConfiguration { return desired.WithUID(uid) },
	}, nil
}
