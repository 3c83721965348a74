// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/why"
)

// maxPlacement is how many pools status.placement may name, as its schema says.
const maxPlacement = 64

// observation is what a pass observed, apart from the PodSet itself.
type observation struct {
	// deployment is the Deployment with the name of the PodSet, owned by it or not, or nil.
	deployment *appsv1.Deployment
	// budget is the PodDisruptionBudget with the name of the PodSet, owned by it or not, or nil.
	budget *policyv1.PodDisruptionBudget
	// pods are the names of the pods that run or are about to, sorted.
	pods []string
	// placement counts these pods per pool of their node, sorted by pool.
	placement []appsv1alpha1.PodPlacement
	// perNode counts these pods by the name of their node; unplaced have none.
	perNode  map[string]int32
	unplaced int32
	// pool is the pool that the pods have to run on, with its nodes; nil unless pods are missing.
	pool *why.Pool
	// namespace is that of the PodSet; nil unless the pool asks for it.
	namespace *metav1.PartialObjectMetadata
	// operatorNamespace is the one that the manager runs in, empty outside of a cluster.
	operatorNamespace string
	// sinceRetry is how long ago the ReplicaSet was made to try again, 0 if it never was.
	sinceRetry time.Duration
	// futile reports whether a repair of what was observed has changed nothing before; nil if none has.
	futile func(action) bool
	// cause is what about the pool keeps the pods from coming, nil where it is not the pool.
	cause *why.Cause
}

// observe is the phase that reads. Everything comes from the cache.
func (r *Reconciler) observe(ctx context.Context, pass *scope) flow.Outcome {
	key := client.ObjectKeyFromObject(pass.Object)
	seen := observation{futile: func(a action) bool { return r.futile.has(key, a) }}
	var err error
	if seen.deployment, err = get[appsv1.Deployment](ctx, r.client, key); err != nil {
		return flow.Fail(fmt.Errorf("cannot read Deployment %q: %w", key.Name, err))
	}
	if seen.budget, err = get[policyv1.PodDisruptionBudget](ctx, r.client, key); err != nil {
		return flow.Fail(fmt.Errorf("cannot read PodDisruptionBudget %q: %w", key.Name, err))
	}
	if err := r.observePods(ctx, key, &seen); err != nil {
		return flow.Fail(err)
	}
	if own := ownDeployment(pass.Object, seen.deployment); lacking(pass.Object, own) {
		seen.sinceRetry = r.sinceRetry(key, own, pass.Now)
		if err := r.observePool(ctx, pass.Object, &seen); err != nil {
			return flow.Fail(err)
		}
	}
	pass.seen = &seen
	return flow.Done()
}

// get reads an object. It returns nil if the object does not exist.
func get[T any, P interface {
	*T
	client.Object
}](ctx context.Context, reader client.Reader, key client.ObjectKey) (*T, error) {
	object := P(new(T))
	if err := reader.Get(ctx, key, object); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return object, nil
}

// observePods reads the pods by their label and the pools of the nodes they run on.
func (r *Reconciler) observePods(ctx context.Context, key client.ObjectKey, seen *observation) error {
	var pods corev1.PodList
	// Nothing below keeps or changes a pod, so thousands of copies would be a waste.
	if err := r.client.List(ctx, &pods, client.InNamespace(key.Namespace),
		client.MatchingFields{indexPods: kube.LabelValue(key.Name)}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list the pods of %q: %w", key.Name, err)
	}

	seen.perNode = make(map[string]int32)
	seen.pods = make([]string, 0, len(pods.Items))
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !counts(pod) {
			continue
		}
		seen.pods = append(seen.pods, pod.Name)
		if pod.Spec.NodeName == "" {
			seen.unplaced++
			continue
		}
		seen.perNode[pod.Spec.NodeName]++
	}
	slices.Sort(seen.pods)

	perPool := make(map[string]int32)
	for name, count := range seen.perNode {
		pools, err := r.poolsOf(ctx, name)
		if err != nil {
			return err
		}
		for _, pool := range pools {
			perPool[pool] += count
		}
	}
	seen.placement = placement(perPool)
	return nil
}

// counts reports whether a pod is one of those that the PodSet has: neither on its way out nor at its end.
func counts(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp.IsZero() &&
		pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

// poolsOf returns the pools that a node is a member of, or the empty name where it is in none.
func (r *Reconciler) poolsOf(ctx context.Context, node string) ([]string, error) {
	var object corev1.Node
	err := r.client.Get(ctx, client.ObjectKey{Name: node}, &object, client.UnsafeDisableDeepCopy)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("cannot read Node %q: %w", node, err)
	}
	if pools := membership.Joined(&object); len(pools) > 0 {
		return pools, nil
	}
	return []string{""}, nil
}

// placement turns counts into the sorted list of the status, nil where there is nothing to say.
func placement(perPool map[string]int32) []appsv1alpha1.PodPlacement {
	if len(perPool) == 0 {
		return nil
	}
	pools := slices.Sorted(maps.Keys(perPool))
	pools = pools[:min(len(pools), maxPlacement)]
	list := make([]appsv1alpha1.PodPlacement, 0, len(pools))
	for _, pool := range pools {
		list = append(list, appsv1alpha1.PodPlacement{NodePool: pool, Pods: perPool[pool]})
	}
	return list
}

// observePool reads the pool of the pods, its nodes, and if the pool is not for all namespaces, the one of the PodSet.
func (r *Reconciler) observePool(ctx context.Context, podSet *appsv1alpha1.PodSet, seen *observation) error {
	name := podSet.Spec.NodePool
	if name == "" {
		return nil
	}
	seen.pool = &why.Pool{Name: name}
	object := &nodesv1.NodePool{}
	if err := r.client.Get(ctx, client.ObjectKey{Name: name}, object, client.UnsafeDisableDeepCopy); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("cannot read NodePool %q: %w", name, err)
	}
	// The pool reports what is malformed in its own status.
	seen.pool.Pool, _ = membership.NewPool(object)
	var err error
	if seen.pool.Nodes, err = kube.Nodes(ctx, r.client, seen.pool.Pool); err != nil {
		return err
	}
	if allowed := object.Spec.AllowedNamespaces; allowed == nil || allowed.From != nodesv1.NamespacesFromSelector {
		return nil
	}
	namespace := NamespaceMetadata()
	err = r.client.Get(ctx, client.ObjectKey{Name: podSet.Namespace}, namespace, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("cannot read Namespace %q: %w", podSet.Namespace, err)
	}
	seen.namespace, seen.operatorNamespace = namespace, r.namespace
	return nil
}
