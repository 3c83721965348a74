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
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/why"
)

// maxClaims is how many PersistentVolumeClaims of a pod are read.
const maxClaims = 16

// lookAround returns what the caller may read of what is around the pod, and the pool that it has chosen.
func (a *API) lookAround(ctx context.Context, who *access.Caller, pod *corev1.Pod) (string, *why.Around, error) {
	around := &why.Around{Unseen: map[why.Part]string{}, Claims: map[string]*corev1.PersistentVolumeClaim{}}
	pools, because, err := a.poolsFor(ctx, who)
	if err != nil {
		return "", nil, err
	}
	around.Unseen[why.PartPool] = because
	pool := why.PoolOf(pod, func(name string) bool { return pools[name] != nil })
	if found := pools[pool]; found != nil {
		around.Pool = found.NodePool
	}
	for _, look := range []func(context.Context, *access.Caller, *corev1.Pod, *why.Around) error{a.lookAtClass, a.lookAtNodes, a.lookAtPods, a.lookAtClaims, a.lookAtEvents} {
		if err := look(ctx, who, pod, around); err != nil {
			return "", nil, err
		}
	}
	return pool, around, nil
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

func (a *API) lookAtClass(ctx context.Context, who *access.Caller, pod *corev1.Pod, around *why.Around) error {
	if pod.Spec.RuntimeClassName == nil {
		return nil
	}
	resource := nodev1.SchemeGroupVersion.WithResource("runtimeclasses")
	var err error
	around.Class, err = readAs[nodev1.RuntimeClass](ctx, a, who, view.ResourcePath(resource, "", *pod.Spec.RuntimeClassName, ""))
	around.Unseen[why.PartClass], err = unreadable404(err, "you may not get runtimeclasses")
	return err
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

func (a *API) lookAtNodes(ctx context.Context, who *access.Caller, pod *corev1.Pod, around *why.Around) error {
	k, _ := a.Hub.Kind(nodesPlural) // the table of kinds has it
	items, because, err := a.all(ctx, who, k, "")
	around.Unseen[why.PartNodes] = because
	if err != nil {
		return err
	}
	around.Nodes, err = nodesOf(items, pod.Spec.NodeName)
	return err
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

// lookAtPods prepares to count what pods request on a node. Pods of nodes that nobody asks about are not decoded.
func (a *API) lookAtPods(ctx context.Context, who *access.Caller, pod *corev1.Pod, around *why.Around) error {
	if pod.Spec.NodeName != "" {
		return nil
	}
	items, because, err := a.all(ctx, who, a.pods, "")
	around.Unseen[why.PartPods] = because
	if err != nil {
		return err
	}
	around.Taken = takenBy(items)
	return nil
}

// takenBy returns a function that says what the pods on a node request. It adds up a node once, when it is first asked about.
func takenBy(pods []*view.Item) func(node string) corev1.ResourceList {
	perNode := map[string][]*view.Item{}
	for _, item := range pods {
		phase := corev1.PodPhase(item.Fields["status.phase"])
		if node := item.Fields["spec.nodeName"]; node != "" && phase != corev1.PodSucceeded && phase != corev1.PodFailed {
			perNode[node] = append(perNode[node], item)
		}
	}
	sums := map[string]corev1.ResourceList{}
	return func(node string) corev1.ResourceList {
		if _, known := sums[node]; !known {
			sums[node] = requested(perNode[node])
		}
		return sums[node]
	}
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

// requested returns what the pods request altogether.
func requested(pods []*view.Item) corev1.ResourceList {
	sum := corev1.ResourceList{}
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
		for name, quantity := range why.Requests(spec) {
			total := sum[name]
			total.Add(quantity)
			sum[name] = total
		}
	}
	return sum
}

func (a *API) lookAtClaims(ctx context.Context, who *access.Caller, pod *corev1.Pod, around *why.Around) error {
	claims := corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil || pod.Spec.NodeName != "" {
			continue
		}
		if len(around.Claims) == maxClaims {
			around.Unseen[why.PartClaims] = "the pod has more PersistentVolumeClaims than are read"
			return nil
		}
		claim, err := readAs[corev1.PersistentVolumeClaim](ctx, a, who, view.ResourcePath(claims, pod.Namespace, source.ClaimName, ""))
		because, err := unreadable404(err, "you may not get persistentvolumeclaims in namespace "+pod.Namespace)
		if err != nil || because != "" {
			around.Unseen[why.PartClaims] = because
			return err
		}
		around.Claims[source.ClaimName] = claim
	}
	return nil
}

// lookAtEvents reads what has been said about a pod that has a node. Who may not list events is told what the pod itself shows.
func (a *API) lookAtEvents(ctx context.Context, who *access.Caller, pod *corev1.Pod, around *why.Around) error {
	if pod.Spec.NodeName == "" {
		return nil
	}
	items, _, err := a.all(ctx, who, a.eventKind, pod.Namespace)
	if err != nil {
		return err
	}
	for _, item := range items {
		if involved(item) != [3]string{"Pod", pod.Namespace, pod.Name} {
			continue
		}
		event, err := decoded[corev1.Event](item)
		if err != nil {
			return err
		}
		if event.InvolvedObject.UID == pod.UID {
			around.Events = append(around.Events, event)
		}
	}
	return nil
}
