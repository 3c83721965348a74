// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package inquiry

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/why"
)

// maxClaims is how many PersistentVolumeClaims of a pod are read.
const maxClaims = 16

// Source reads objects as a caller. Each method returns, as a part of a sentence, that the caller may not read them. An error means that
// nobody knows.
type Source interface {
	Objects

	// Pools returns all pools.
	Pools(ctx context.Context) (membership.Pools, string, error)
	// Nodes returns all nodes, or only the named one.
	Nodes(ctx context.Context, name string) ([]*corev1.Node, string, error)
	// Taken returns a function that says what the pods on a node request.
	Taken(ctx context.Context) (func(node string) corev1.ResourceList, string, error)
	// Events returns what has been said about the pod, nothing if the caller may not list events.
	Events(ctx context.Context, pod *corev1.Pod) ([]*corev1.Event, error)
}

// Objects reads single objects as a caller, as Source does; nil for one that does not exist.
type Objects interface {
	// Class returns a RuntimeClass, and Claim a PersistentVolumeClaim.
	Class(ctx context.Context, name string) (*nodev1.RuntimeClass, string, error)
	Claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, string, error)
}

// Pod explains a pod with what is around it.
func Pod(ctx context.Context, from Source, pod *corev1.Pod) (*why.Explanation, error) {
	around := &why.Around{Unseen: map[why.Part]string{}, Claims: map[string]*corev1.PersistentVolumeClaim{}}
	pools, because, err := from.Pools(ctx)
	if err != nil {
		return nil, err
	}
	around.Unseen[why.PartPool] = because
	pool := why.PoolOf(pod, func(name string) bool { return pools[name] != nil })
	if found := pools[pool]; found != nil {
		around.Pool = found.NodePool
	}
	if pod.Spec.RuntimeClassName != nil {
		if around.Class, around.Unseen[why.PartClass], err = from.Class(ctx, *pod.Spec.RuntimeClassName); err != nil {
			return nil, err
		}
	}
	if around.Nodes, around.Unseen[why.PartNodes], err = from.Nodes(ctx, pod.Spec.NodeName); err != nil {
		return nil, err
	}
	if pod.Spec.NodeName == "" {
		if around.Taken, around.Unseen[why.PartPods], err = from.Taken(ctx); err != nil {
			return nil, err
		}
		if err := claims(ctx, from, pod, around); err != nil {
			return nil, err
		}
	} else if around.Events, err = from.Events(ctx, pod); err != nil {
		return nil, err
	}
	return why.Pod(pod, pool, around), nil
}

// claims reads the claims that the pod names.
func claims(ctx context.Context, from Source, pod *corev1.Pod, around *why.Around) error {
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		if len(around.Claims) == maxClaims {
			around.Unseen[why.PartClaims] = "the pod has more PersistentVolumeClaims than are read"
			return nil
		}
		claim, because, err := from.Claim(ctx, pod.Namespace, source.ClaimName)
		if err != nil || because != "" {
			around.Unseen[why.PartClaims] = because
			return err
		}
		around.Claims[source.ClaimName] = claim
	}
	return nil
}

// Node explains a node, alone or together with a pool, and says who has set what it carries: all of it, or one key. The node needs its
// managedFields.
func Node(ctx context.Context, from Source, node *corev1.Node, pool, key string) (*why.Explanation, error) {
	pools, because, err := from.Pools(ctx)
	if err != nil {
		return nil, err
	}
	var out *why.Explanation
	switch {
	case pool == "":
		out = why.Node(node, pools, because)
	case because != "":
		out = why.MembershipUnseen(node, pool, because)
	default:
		out = why.Membership(node, pools, pool)
	}
	out.Origins = why.Origins(node, pools, key)
	return out, nil
}

// Taken returns what pods on a node request altogether, from a function that adds the requests of each pod on it.
func Taken(specs func(node string) []*corev1.PodSpec) func(node string) corev1.ResourceList {
	sums := map[string]corev1.ResourceList{}
	return func(node string) corev1.ResourceList {
		if _, known := sums[node]; !known {
			sum := corev1.ResourceList{}
			for _, spec := range specs(node) {
				for name, quantity := range why.Requests(spec) {
					total := sum[name]
					total.Add(quantity)
					sum[name] = total
				}
			}
			sums[node] = sum
		}
		return sums[node]
	}
}
