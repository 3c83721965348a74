// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/inquiry"
	"github.com/windlass-operator/windlass/internal/membership"
)

// source reads as a caller for explanations. It implements inquiry.Source.
type source struct {
	api *API
	who *access.Caller
}

// Pools implements inquiry.Source.
func (s *source) Pools(ctx context.Context) (membership.Pools, string, error) {
	return s.api.poolsFor(ctx, s.who)
}

// poolsFor returns all pools, or why the caller does not see them.
func (a *API) poolsFor(ctx context.Context, who *access.Caller) (membership.Pools, string, error) {
	k, _ := a.Hub.Kind(poolsPlural) // the table of kinds has it
	items, because, err := a.all(ctx, who, k, "")
	if because != "" || err != nil {
		return nil, because, err
	}
	list := &nodesv1.NodePoolList{}
	for _, item := range items {
		pool, err := decoded[nodesv1.NodePool](item)
		if err != nil {
			return nil, "", err
		}
		list.Items = append(list.Items, *pool)
	}
	return membership.NewPools(list), "", nil
}

// Class implements inquiry.Source.
func (s *source) Class(ctx context.Context, name string) (*nodev1.RuntimeClass, string, error) {
	resource := nodev1.SchemeGroupVersion.WithResource("runtimeclasses")
	out, err := readAs[nodev1.RuntimeClass](ctx, s.api, s.who, view.ResourcePath(resource, "", name, ""))
	because, err := unreadable404(err, "you may not get runtimeclasses")
	return out, because, err
}

// unreadable404 returns why an object was not read: nothing for one that does not exist.
func unreadable404(err error, forbidden string) (string, error) {
	problem, refused := errors.AsType[*view.Problem](err)
	switch {
	case refused && problem.Status == http.StatusNotFound:
		return "", nil
	case refused && problem.Status == http.StatusForbidden:
		return forbidden, nil
	}
	return "", err
}

// Nodes implements inquiry.Source.
func (s *source) Nodes(ctx context.Context, name string) ([]*corev1.Node, string, error) {
	k, _ := s.api.Hub.Kind(nodesPlural) // the table of kinds has it
	items, because, err := s.api.all(ctx, s.who, k, "")
	if err != nil {
		return nil, because, err
	}
	nodes, err := nodesOf(items, name)
	return nodes, because, err
}

// nodesOf returns the nodes, or only the named one.
func nodesOf(items []*view.Item, name string) ([]*corev1.Node, error) {
	var out []*corev1.Node
	for _, item := range items {
		if name != "" && name != item.Name {
			continue
		}
		node, err := decoded[corev1.Node](item)
		if err != nil {
			return nil, err
		}
		out = append(out, node)
	}
	return out, nil
}

// Taken implements inquiry.Source. Pods of nodes that nobody asks about are not decoded.
func (s *source) Taken(ctx context.Context) (func(node string) corev1.ResourceList, string, error) {
	items, because, err := s.api.all(ctx, s.who, s.api.pods, "")
	if err != nil {
		return nil, because, err
	}
	return takenBy(items), because, nil
}

// takenBy returns a function that says what the pods on a node request. A node is added up once, when it is first asked about.
func takenBy(pods []*view.Item) func(node string) corev1.ResourceList {
	perNode := map[string][]*view.Item{}
	for _, item := range pods {
		phase := corev1.PodPhase(item.Fields["status.phase"])
		if node := item.Fields["spec.nodeName"]; node != "" && phase != corev1.PodSucceeded && phase != corev1.PodFailed {
			perNode[node] = append(perNode[node], item)
		}
	}
	return inquiry.Taken(func(node string) []*corev1.PodSpec { return specsOf(perNode[node]) })
}

// requesting is the part of a pod that has requests.
type requesting struct {
	Spec struct {
		Containers     []container                  `json:"containers"`
		InitContainers []container                  `json:"initContainers"`
		Overhead       corev1.ResourceList          `json:"overhead"`
		Resources      *corev1.ResourceRequirements `json:"resources"`
	} `json:"spec"`
}

type container struct {
	RestartPolicy *corev1.ContainerRestartPolicy `json:"restartPolicy"`
	Resources     corev1.ResourceRequirements    `json:"resources"`
}

// specsOf returns the part of each pod's spec that has requests.
func specsOf(pods []*view.Item) []*corev1.PodSpec {
	out := make([]*corev1.PodSpec, 0, len(pods))
	for _, item := range pods {
		of, err := decoded[requesting](item)
		if err != nil {
			continue // what the API server has sent can be read
		}
		spec := &corev1.PodSpec{Overhead: of.Spec.Overhead, Resources: of.Spec.Resources}
		for _, c := range of.Spec.Containers {
			spec.Containers = append(spec.Containers, corev1.Container{Resources: c.Resources})
		}
		for _, c := range of.Spec.InitContainers {
			spec.InitContainers = append(spec.InitContainers, corev1.Container{Resources: c.Resources, RestartPolicy: c.RestartPolicy})
		}
		out = append(out, spec)
	}
	return out
}

// Claim implements inquiry.Source.
func (s *source) Claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, string, error) {
	claims := corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	claim, err := readAs[corev1.PersistentVolumeClaim](ctx, s.api, s.who, view.ResourcePath(claims, namespace, name, ""))
	because, err := unreadable404(err, "you may not get persistentvolumeclaims in namespace "+namespace)
	return claim, because, err
}

// Events implements inquiry.Source. Who may not list events is told what the pod itself shows.
func (s *source) Events(ctx context.Context, pod *corev1.Pod) ([]*corev1.Event, error) {
	items, _, err := s.api.all(ctx, s.who, s.api.eventKind, pod.Namespace)
	if err != nil {
		return nil, err
	}
	var out []*corev1.Event
	for _, item := range items {
		if involved(item) != [3]string{"Pod", pod.Namespace, pod.Name} {
			continue
		}
		event, err := decoded[corev1.Event](item)
		if err != nil {
			return nil, err
		}
		if event.InvolvedObject.UID == pod.UID {
			out = append(out, event)
		}
	}
	return out, nil
}
