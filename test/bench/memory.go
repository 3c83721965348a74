// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

const (
	// podsPerSet is the size of the PodSets of the scenario memory.
	podsPerSet = 100
	// settled is how long the manager is left alone before its memory is read.
	settled = 2 * time.Second
)

// memory measures what the manager holds: with nodes alone, and with nodes and pods. What it holds without either is
// the difference of the two to nothing; its peak is that of filling the caches.
func memory(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	n := b.options.Nodes
	s := section{Title: fmt.Sprintf("resident memory of the manager, %s after it has started", settled)}
	bare := r.ownNodes == 0
	if bare {
		if err := b.readMemory(ctx, r, &s, "empty cluster"); err != nil {
			return s, err
		}
	}
	if err := r.ensurePool(ctx, n); err != nil {
		return s, err
	}
	if err := b.readMemory(ctx, r, &s, fmt.Sprintf("%d nodes", n)); err != nil {
		return s, err
	}
	b.tell("      adding %d pods", b.options.Pods)
	if err := r.addPods(ctx, 0, b.options.Pods, n); err != nil {
		return s, err
	}
	m, err := r.startManager(ctx) // which writes the Deployments and the status of the PodSets
	if err != nil {
		return s, err
	}
	if err := m.stop(); err != nil {
		return s, err
	}
	err = b.readMemory(ctx, r, &s, fmt.Sprintf("%d nodes, %d pods in %d PodSets", n, b.options.Pods, sets(b.options.Pods)))
	return s, err
}

// readMemory starts the manager anew in each round, because memory depends on how the caches were filled.
func (b *bench) readMemory(ctx context.Context, r *controlPlane, s *section, name string) error {
	now := s.measure(name+": resident", "MiB")
	peak := s.measure(name+": resident at most", "MiB")
	heap := s.measure(name+": live heap", "MiB")
	return b.interleave(ctx, variant{name, func(ctx context.Context, round int) error {
		m, err := r.startManager(ctx)
		if err != nil {
			return err
		}
		if err := pause(ctx, settled); err != nil {
			return err
		}
		used, most := resident(m.PID)
		now.add(round, used)
		peak.add(round, most)
		live, err := m.metric(ctx, "go_memstats_heap_alloc_bytes")
		if err != nil {
			return err
		}
		heap.add(round, live/(1<<20))
		return m.stop()
	}})
}

func sets(pods int) int { return (pods + podsPerSet - 1) / podsPerSet }

// addPods adds PodSets and the pods that a Deployment would have made for them, on the nodes and running: those from one number of pods to
// another, of which both fill their PodSets.
func (r *controlPlane) addPods(ctx context.Context, from, to, nodes int) error {
	if err := r.addNamespace(ctx); err != nil {
		return err
	}
	for i := sets(from); i < sets(to); i++ {
		if err := r.Client.Create(ctx, newPodSet(setName(0, i), podsPerSet)); err != nil {
			return fmt.Errorf("cannot create a PodSet: %w", err)
		}
	}
	return forEach(ctx, writers, to-from, func(ctx context.Context, i int) error {
		i += from
		pod := newPod(i, setName(0, i/podsPerSet), nodeName(i%nodes))
		if err := r.Client.Create(ctx, pod); err != nil {
			return fmt.Errorf("cannot create pod %q: %w", pod.Name, err)
		}
		pod.Status = runningStatus(i)
		if err := r.Client.Status().Update(ctx, pod); err != nil {
			return fmt.Errorf("cannot report the status of pod %q: %w", pod.Name, err)
		}
		return nil
	})
}

// newPod returns a pod as a Deployment makes it, with what admission and defaults add to it in a real cluster.
func newPod(i int, set, node string) *corev1.Pod {
	replicas := fmt.Sprintf("%s-%08x", set, 0x5d8f9c4b)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: benchNamespace, Name: fmt.Sprintf("%s-%05d", replicas, i), GenerateName: replicas + "-",
			Labels: map[string]string{
				appsv1alpha1.LabelApp: appsv1alpha1.LabelAppValue, appsv1alpha1.LabelPodSet: set, "pod-template-hash": "5d8f9c4b",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: replicas, UID: "00000000-0000-0000-0000-000000000001",
				Controller: new(true),
			}},
		},
		Spec: corev1.PodSpec{
			NodeName: node,
			Containers: []corev1.Container{{
				Name: appsv1alpha1.DefaultContainerName, Image: appsv1alpha1.DefaultImage, Command: []string{"sleep", "3600"},
				Env: []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{
					FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"},
				}}},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
				}},
			}},
		},
	}
}

func runningStatus(i int) corev1.PodStatus {
	now := metav1.Now()
	address := fmt.Sprintf("10.%d.%d.%d", 128+i>>16&127, i>>8&255, i&255)
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &now, PodIP: address, PodIPs: []corev1.PodIP{{IP: address}}, HostIP: "10.0.0.1",
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: appsv1alpha1.DefaultContainerName, Ready: true, Started: new(true), Image: appsv1alpha1.DefaultImage,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}},
	}
	for _, kind := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	return status
}
