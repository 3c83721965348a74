// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// Around is what is known of the objects around a pod. What could not be read is in Unseen.
type Around struct {
	// Class is the RuntimeClass that the pod names, nil if it does not exist.
	Class *nodev1.RuntimeClass
	// Pool is the pool that the pod has chosen, nil if it does not exist.
	Pool *nodesv1.NodePool
	// Nodes are all nodes, in any order.
	Nodes []*corev1.Node
	// Taken returns what the pods on a node request altogether. It is asked about few nodes.
	Taken func(node string) corev1.ResourceList
	// Claims are the PersistentVolumeClaims that the pod names and that exist, by name.
	Claims map[string]*corev1.PersistentVolumeClaim
	// Events are those about a pod that has a node, in any order.
	Events []*corev1.Event
	// Unseen says of what could not be read why: a part of a sentence, such as "you may not list nodes".
	Unseen map[Part]string
}

// Part is something around a pod that may not be readable.
type Part string

// Parts around a pod.
const (
	PartClass  Part = "class"
	PartPool   Part = "pool"
	PartNodes  Part = "nodes"
	PartPods   Part = "pods"
	PartClaims Part = "claims"
)

// PoolOf returns the name of the pool that a pod has chosen, by the pod label or by its RuntimeClass; empty for none. A RuntimeClass can
// be that of something else: isPool says whether a pool has the name.
func PoolOf(pod *corev1.Pod, isPool func(name string) bool) string {
	if name := pod.Labels[nodesv1.PoolLabel]; name != "" {
		return name
	}
	if class := pod.Spec.RuntimeClassName; class != nil && isPool(*class) {
		return *class
	}
	return ""
}

// Pod explains why a pod does not run. Pool is the name of the pool that it has chosen, empty for none.
func Pod(pod *corev1.Pod, pool string, around *Around) *Explanation {
	w := &podWalk{walk: newWalk(ObjectOf(kindPod, pod)), pod: pod, around: around, pool: pool}
	w.names = w.names.with(names{"pool": pool})
	if pod.Status.Phase == corev1.PodSucceeded {
		w.check(checkPodNotFailed, func() *finding { return nil })
		return w.end(fmt.Sprintf("Pod %s has ended without an error", pod.Name))
	}
	w.check(checkPodNotFailed, w.hasFailed)
	w.check(checkPodNotDeleted, w.deleted)
	if pod.Spec.NodeName == "" {
		w.schedule()
		return w.end(fmt.Sprintf("Pod %s has no node yet", pod.Name))
	}
	w.running()
	return w.end(fmt.Sprintf("Pod %s runs on node %s and is ready", pod.Name, pod.Spec.NodeName))
}

func (w *podWalk) hasFailed() *finding {
	if w.pod.Status.Phase != corev1.PodFailed {
		return nil
	}
	message := fmt.Sprintf("pod %s has failed", w.pod.Name)
	if detail := strings.Trim(w.pod.Status.Reason+": "+w.pod.Status.Message, ": "); detail != "" {
		message += ": " + detail
	} else if ended := lastEnd(w.pod); ended != "" {
		message += ": " + ended
	}
	return &finding{code: CodePodFailed, message: message, evidence: []Evidence{w.fact("status.phase", string(w.pod.Status.Phase))}}
}

// lastEnd describes the first container that ended with an error.
func lastEnd(pod *corev1.Pod) string {
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if ended := container.State.Terminated; ended != nil && ended.ExitCode != 0 {
			return describeEnd(container.Name, ended)
		}
	}
	return ""
}

func (w *podWalk) deleted() *finding {
	if w.pod.DeletionTimestamp == nil {
		return nil
	}
	return &finding{
		code: CodePodDeleting, message: fmt.Sprintf("pod %s is being deleted", w.pod.Name),
		evidence: []Evidence{w.fact("metadata.deletionTimestamp", w.pod.DeletionTimestamp.UTC().Format("2006-01-02T15:04:05Z"))},
	}
}

// schedule makes the checks of a pod without a node.
func (w *podWalk) schedule() {
	w.check(checkNoSchedulingGate, w.gated)
	w.runtimeClass()
	w.choosePool()
	w.findNode()
	w.volumes()
	w.check(checkNodeFound, w.scheduler)
}

func (w *podWalk) gated() *finding {
	if len(w.pod.Spec.SchedulingGates) == 0 {
		return nil
	}
	gates := make([]string, 0, len(w.pod.Spec.SchedulingGates))
	for _, gate := range w.pod.Spec.SchedulingGates {
		gates = append(gates, gate.Name)
	}
	list := strings.Join(gates, ", ")
	return &finding{
		code: CodeSchedulingGated, message: "the scheduler ignores the pod until these gates are removed: " + list,
		evidence: []Evidence{w.fact("spec.schedulingGates", list)},
	}
}

// choosePool checks the pool that the pod has chosen. A pod that exists was admitted, whatever the pool allows now.
func (w *podWalk) choosePool() {
	if w.pool == "" {
		return
	}
	if because := w.around.Unseen[PartPool]; because != "" {
		w.skip(checkChosenPoolExists, because)
		return
	}
	w.check(checkChosenPoolExists, func() *finding {
		pool := Pool{Name: w.pool}
		if w.around.Pool == nil {
			return w.missing(PodsMissing(Pods{Wanted: 1, Created: 1, Unplaced: 1}, pool))
		}
		pool.Pool, _ = membership.NewPool(w.around.Pool)
		return w.missing(deleting(Pods{}, pool), fact(kindPool, w.around.Pool, "metadata.deletionTimestamp", fmt.Sprint(w.around.Pool.DeletionTimestamp)))
	})
}

// volumes checks the claims that the pod names. Whether a claim that has no volume yet can get one on a node, only the scheduler
// knows.
func (w *podWalk) volumes() {
	var claims []string
	for i := range w.pod.Spec.Volumes {
		if source := w.pod.Spec.Volumes[i].PersistentVolumeClaim; source != nil {
			claims = append(claims, source.ClaimName)
		}
	}
	if len(claims) == 0 {
		return
	}
	if because := w.around.Unseen[PartClaims]; because != "" {
		w.skip(checkClaimsExist, because)
		return
	}
	w.check(checkClaimsExist, func() *finding {
		for _, name := range claims {
			claim := w.around.Claims[name]
			switch {
			case claim == nil:
				return &finding{
					code: CodeClaimMissing, message: fmt.Sprintf("the PersistentVolumeClaim %s does not exist", name),
					evidence: []Evidence{w.fact("spec.volumes", name)},
				}
			case claim.Status.Phase == corev1.ClaimLost:
				return &finding{
					code: CodeClaimLost, message: fmt.Sprintf("the PersistentVolumeClaim %s has lost its volume", name), names: names{"claim": name},
					evidence: []Evidence{fact("PersistentVolumeClaim", claim, "status.phase", string(claim.Status.Phase))},
				}
			}
		}
		return nil
	})
}

// scheduler quotes the scheduler, which knows more than the objects prove.
func (w *podWalk) scheduler() *finding {
	said := podCondition(w.pod, corev1.PodScheduled)
	if said == nil || said.Status == corev1.ConditionTrue || said.Message == "" {
		return &finding{
			code: CodeNotScheduled, message: fmt.Sprintf("the scheduler %s has not looked at the pod yet", cmp.Or(w.pod.Spec.SchedulerName, corev1.DefaultSchedulerName)),
			evidence: []Evidence{w.fact("spec.schedulerName", w.pod.Spec.SchedulerName)},
		}
	}
	return &finding{
		code: CodeUnschedulable, message: "the scheduler says: " + said.Message,
		evidence: []Evidence{w.fact("status.conditions[PodScheduled]", said.Message)},
	}
}
