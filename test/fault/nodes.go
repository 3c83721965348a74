// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nodes makes simulated nodes, which are ready from the start. They carry the label "pool: red", and a label with their own name. It waits
// until the control plane has done to them what it does to new nodes.
func nodes(names ...string) step {
	return step{"create nodes " + strings.Join(names, " "), func(ctx context.Context, s *stage) error {
		for i, name := range names {
			if err := s.Client.Create(ctx, node(name, i), person); err != nil {
				return fmt.Errorf("cannot create node %q: %w", name, err)
			}
		}
		return s.await(ctx, func(ctx context.Context) error {
			for _, name := range names {
				if err := s.isSettled(ctx, name); err != nil {
					return err
				}
			}
			return nil
		})
	}}
}

// isSettled returns nil if a node is no longer tainted as a new one, and the simulator holds its Lease.
func (l *lane) isSettled(ctx context.Context, name string) error {
	created := &corev1.Node{}
	if err := l.Client.Get(ctx, client.ObjectKey{Name: name}, created); err != nil {
		return err
	}
	for i := range created.Spec.Taints {
		if created.Spec.Taints[i].Key == corev1.TaintNodeNotReady {
			return fmt.Errorf("node %q has the taint of a new node", name)
		}
	}
	return l.Client.Get(ctx, client.ObjectKey{Namespace: corev1.NamespaceNodeLease, Name: name}, &coordinationv1.Lease{})
}

func node(name string, number int) *corev1.Node {
	size := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	created := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
				"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64", // the controller manager adds these where they are missing
				"pool": "red",
			},
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0"},
		},
		Spec: corev1.NodeSpec{ProviderID: "kwok://" + name},
		Status: corev1.NodeStatus{
			Phase: corev1.NodeRunning, Capacity: size, Allocatable: size,
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("198.18.0.%d", number+1)}},
		},
	}
	for _, kind := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		condition := corev1.NodeCondition{Type: kind, Status: corev1.ConditionFalse, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}
		if kind == corev1.NodeReady {
			condition.Status = corev1.ConditionTrue
		}
		created.Status.Conditions = append(created.Status.Conditions, condition)
	}
	return created
}
