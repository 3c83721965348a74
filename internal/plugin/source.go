// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/inquiry"
	"github.com/windlass-operator/windlass/internal/membership"
)

// pageSize is how many objects one request lists.
const pageSize = 2500

// listAll lists a kind page by page, in a namespace if one is given.
func (c *cluster) listAll(ctx context.Context, into client.ObjectList, each func(), namespace string, more ...client.ListOption) error {
	options := append([]client.ListOption{client.InNamespace(namespace), client.Limit(pageSize)}, more...)
	for token := ""; ; {
		into.SetContinue("")
		if err := c.List(ctx, into, append(options, client.Continue(token))...); err != nil {
			return err
		}
		each()
		if token = into.GetContinue(); token == "" {
			return nil
		}
	}
}

// unseen returns why the caller does not see objects, as a part of a sentence; empty for other errors, which stay.
func unseen(err error, what string) (string, error) {
	if apierrors.IsForbidden(err) {
		return "you may not list " + what, nil
	}
	return "", err
}

// Pools returns all pools, or why the caller does not see them.
func (c *cluster) Pools(ctx context.Context) (membership.Pools, string, error) {
	all, page := &nodesv1.NodePoolList{}, &nodesv1.NodePoolList{}
	err := c.listAll(ctx, page, func() { all.Items = append(all.Items, page.Items...) }, "")
	if because, err := unseen(err, "nodepools"); because != "" || err != nil {
		return nil, because, err
	}
	return membership.NewPools(all), "", nil
}

// Nodes implements inquiry.Source.
func (c *cluster) Nodes(ctx context.Context, name string) ([]*corev1.Node, string, error) {
	var out []*corev1.Node
	if name != "" {
		node := &corev1.Node{}
		err := c.Get(ctx, client.ObjectKey{Name: name}, node)
		if err == nil {
			out = append(out, node)
		}
		because, err := unseen(client.IgnoreNotFound(err), "nodes")
		return out, because, err
	}
	page := &corev1.NodeList{}
	err := c.listAll(ctx, page, func() {
		for i := range page.Items {
			out = append(out, &page.Items[i])
		}
		page.Items = nil // the next page must not overwrite these
	}, "")
	because, err := unseen(err, "nodes")
	return out, because, err
}

// pods calls a function for every pod of the cluster.
func (c *cluster) pods(ctx context.Context, each func(*corev1.Pod)) (string, error) {
	page := &corev1.PodList{}
	return unseen(c.listAll(ctx, page, func() {
		for i := range page.Items {
			each(&page.Items[i])
		}
	}, ""), "pods in all namespaces")
}

// Taken implements inquiry.Source.
func (c *cluster) Taken(ctx context.Context) (func(node string) corev1.ResourceList, string, error) {
	perNode := map[string][]*corev1.PodSpec{}
	because, err := c.pods(ctx, func(pod *corev1.Pod) {
		if pod.Spec.NodeName != "" && !membership.Ended(pod) {
			spec := pod.Spec.DeepCopy()
			perNode[pod.Spec.NodeName] = append(perNode[pod.Spec.NodeName], spec)
		}
	})
	return inquiry.Taken(func(node string) []*corev1.PodSpec { return perNode[node] }), because, err
}

// Class implements inquiry.Source.
func (c *cluster) Class(ctx context.Context, name string) (*nodev1.RuntimeClass, string, error) {
	out := &nodev1.RuntimeClass{}
	err := c.Get(ctx, client.ObjectKey{Name: name}, out)
	if err != nil {
		out = nil
	}
	because, err := ungot(client.IgnoreNotFound(err), "runtimeclasses")
	return out, because, err
}

// Claim implements inquiry.Source.
func (c *cluster) Claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, string, error) {
	out := &corev1.PersistentVolumeClaim{}
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, out)
	if err != nil {
		out = nil
	}
	because, err := ungot(client.IgnoreNotFound(err), "persistentvolumeclaims in namespace "+namespace)
	return out, because, err
}

// ungot is unseen for single objects.
func ungot(err error, what string) (string, error) {
	if apierrors.IsForbidden(err) {
		return "you may not get " + what, nil
	}
	return "", err
}

// Events implements inquiry.Source.
func (c *cluster) Events(ctx context.Context, pod *corev1.Pod) ([]*corev1.Event, error) {
	var out []*corev1.Event
	page := &corev1.EventList{}
	err := c.listAll(ctx, page, func() {
		for i := range page.Items {
			out = append(out, &page.Items[i])
		}
		page.Items = nil // the next page must not overwrite these
	}, pod.Namespace, client.MatchingFields{"involvedObject.uid": string(pod.UID)})
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	return out, err
}
