// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Requests returns what the scheduler reserves for a pod: one pod, the sum of its containers' requests or the request of an init
// container if that is more, and the overhead. Resources of zero are left out.
func Requests(spec *corev1.PodSpec) corev1.ResourceList {
	all := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
	if spec == nil {
		return all
	}
	running := corev1.ResourceList{}
	for i := range spec.Containers {
		add(running, requestsOf(spec.Containers[i].Resources))
	}
	sidecars, peak := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.InitContainers {
		own := requestsOf(spec.InitContainers[i].Resources)
		if policy := spec.InitContainers[i].RestartPolicy; policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			add(sidecars, own)
			add(running, own)
		} else {
			add(own, sidecars)
			raise(peak, own)
		}
	}
	raise(running, peak)
	if spec.Resources != nil {
		override(running, *spec.Resources)
	}
	add(running, spec.Overhead)
	add(all, running)
	maps.DeleteFunc(all, func(_ corev1.ResourceName, quantity resource.Quantity) bool { return quantity.Sign() <= 0 })
	return all
}

// override replaces the requests of the containers with those of the pod as a whole. A limit of the pod counts only for resources
// that no container requests.
func override(running corev1.ResourceList, pod corev1.ResourceRequirements) {
	for name, limit := range pod.Limits {
		if _, requested := running[name]; !requested {
			running[name] = limit
		}
	}
	maps.Copy(running, pod.Requests)
}

// requestsOf returns what a container requests. A limit without a request is a request.
func requestsOf(resources corev1.ResourceRequirements) corev1.ResourceList {
	list := corev1.ResourceList{}
	maps.Copy(list, resources.Limits)
	maps.Copy(list, resources.Requests)
	return list
}

func add(sum, more corev1.ResourceList) {
	for name, quantity := range more {
		value := sum[name].DeepCopy()
		value.Add(quantity)
		sum[name] = value
	}
}

// raise makes the list at least as great as the floor.
func raise(list, floor corev1.ResourceList) {
	for name, quantity := range floor {
		if have := list[name]; have.Cmp(quantity) < 0 {
			list[name] = quantity
		}
	}
}
