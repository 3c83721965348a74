// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

// Kinds that are explained.
const (
	kindPod         = "Pod"
	kindNode        = "Node"
	kindDeployment  = "Deployment"
	kindReplicaSet  = "ReplicaSet"
	kindStatefulSet = "StatefulSet"
	kindDaemonSet   = "DaemonSet"
	kindJob         = "Job"
	kindCronJob     = "CronJob"
	kindPool        = "NodePool"
	kindPodSet      = "PodSet"
	kindTool        = "PodBuggerTool"
	kindMachine     = "VirtualMachine"
	kindCluster     = "Cluster"
	kindKubeconfig  = "Kubeconfig"
)

// declared is a condition of a kind, as a check.
type declared struct {
	condition string
	asks      CheckID
	// negative conditions are good when False. info conditions tell of something that is worth knowing, but that Ready does not
	// depend on.
	negative, info bool
}

// owned is an object with conditions that Windlass writes.
type owned interface {
	metav1.Object
	GetConditions() []metav1.Condition
}

// NodePool explains why a NodePool is not ready.
func NodePool(pool *nodesv1.NodePool) *Explanation {
	more := names{"kind": "nodepools.nodes.lailin.xyz", "generation": strconv.FormatInt(pool.Generation, 10)}
	return conditionWalk(kindPool, pool, pool.Status.ObservedGeneration, nil, more, []declared{
		{condition: nodesv1.ConditionSafetyBrake, asks: checkFewNodesLeave, negative: true},
		{condition: nodesv1.ConditionRuntimeClassReady, asks: checkRuntimeClassReady},
		{condition: nodesv1.ConditionHandlerAvailable, asks: checkHandlerAvailable},
		{condition: nodesv1.ConditionConflicted, asks: checkKeysFree, negative: true},
		{condition: nodesv1.ConditionDrained, asks: checkNodesDrained},
		{condition: nodesv1.ConditionRolledOut, asks: checkNodesRolledOut},
		{condition: nodesv1.ConditionNodesSynced, asks: checkNodesSynced},
		{condition: nodesv1.ConditionAdmissionReady, asks: checkAdmissionReady, info: true},
	})
}

// PodSet explains why a PodSet is not ready.
func PodSet(set *appsv1alpha1.PodSet) *Explanation {
	return conditionWalk(kindPodSet, set, set.Status.ObservedGeneration, nil, names{"pool": set.Spec.NodePool}, []declared{
		{condition: appsv1alpha1.ConditionChildConflict, asks: checkNameFree, negative: true},
		{condition: appsv1alpha1.ConditionReplicaFailure, asks: checkPodsCreatable, negative: true},
		{condition: appsv1alpha1.ConditionProgressing, asks: checkRolloutProgresses},
		{condition: appsv1alpha1.ConditionAvailable, asks: checkEnoughPodsAvailable},
	})
}

// PodBuggerTool explains why a PodBuggerTool is not ready.
func PodBuggerTool(tool *appsv1alpha1.PodBuggerTool) *Explanation {
	return conditionWalk(kindTool, tool, tool.Status.ObservedGeneration, nil, nil, []declared{
		{condition: appsv1alpha1.ConditionInstalled, asks: checkToolInstalled},
		{condition: appsv1alpha1.ConditionLimited, asks: checkNoPodLeftOut, negative: true, info: true},
	})
}

// VirtualMachine explains why a VirtualMachine is not ready, or what it waits for.
func VirtualMachine(vm *cloudnativev1alpha1.VirtualMachine) *Explanation {
	var again *metav1.Time
	if vm.Status.StartFailure != nil {
		again = vm.Status.StartFailure.RetryAfter
	}
	return conditionWalk(kindMachine, vm, vm.Status.ObservedGeneration, again, nil, []declared{
		{condition: cloudnativev1alpha1.ConditionDriverReady, asks: checkHostAnswers},
		{condition: cloudnativev1alpha1.ConditionImageReady, asks: checkImageOnHost},
		{condition: cloudnativev1alpha1.ConditionProvisioned, asks: checkMachineExists},
		{condition: cloudnativev1alpha1.ConditionPowerSynced, asks: checkPowerSynced},
		{condition: cloudnativev1alpha1.ConditionResourcesSynced, asks: checkSizeSynced},
		{condition: cloudnativev1alpha1.ConditionRestartRequired, asks: checkNoRestartWaits, negative: true, info: true},
		{condition: cloudnativev1alpha1.ConditionSoftwareEmulation, asks: checkProcessorNotEmulated, negative: true, info: true},
		{condition: cloudnativev1alpha1.ConditionRootDiskRefused, asks: checkRootDiskSupported, negative: true, info: true},
	})
}

// Cluster explains why a Cluster is not ready, and when Windlass tries again.
func Cluster(cluster *clusterprovisionerv1alpha1.Cluster) *Explanation {
	plan := ""
	if cluster.Status.Plan != nil {
		plan = cluster.Status.Plan.ID
	}
	more := names{"kind": "clusters.clusterprovisioner.rke.io", "plan": plan}
	return conditionWalk(kindCluster, cluster, cluster.Status.ObservedGeneration, cluster.Status.NextRetryTime, more, []declared{
		{condition: clusterprovisionerv1alpha1.ConditionConfigValid, asks: checkConfigUsable},
		{condition: clusterprovisionerv1alpha1.ConditionProvisioned, asks: checkConfigApplied},
		{condition: clusterprovisionerv1alpha1.ConditionKubeconfigAvailable, asks: checkKubeconfigStored},
		{condition: clusterprovisionerv1alpha1.ConditionHealthy, asks: checkClusterAnswers},
		{condition: clusterprovisionerv1alpha1.ConditionDegraded, asks: checkLastChangeApplied, negative: true},
	})
}

// Kubeconfig explains why a Kubeconfig is not ready.
func Kubeconfig(of *clusterprovisionerv1alpha1.Kubeconfig) *Explanation {
	more := names{"kind": "kubeconfigs.clusterprovisioner.rke.io"}
	return conditionWalk(kindKubeconfig, of, of.Status.ObservedGeneration, nil, more, []declared{
		{condition: clusterprovisionerv1alpha1.ConditionIssued, asks: checkKubeconfigIssued},
	})
}

// conditionWalk explains an object by the conditions that Windlass has written. Ready names the cause: of several conditions that are
// not as they should be, the status has put the one to fix first there.
func conditionWalk(kind string, of owned, observed int64, again *metav1.Time, more names, all []declared) *Explanation {
	w := newWalk(ObjectOf(kind, of))
	w.names = w.names.with(more)
	all = append(all, declared{condition: status.Paused, asks: checkNotPaused, negative: true, info: true})
	conditions := of.GetConditions()
	ready := apimeta.FindStatusCondition(conditions, status.Ready)
	w.check(checkObservedByWindlass, func() *finding { return unobserved(kind, of, observed, ready) })
	cause := causeOf(conditions, ready, all)
	if rests := apimeta.FindStatusCondition(conditions, status.Paused); cause != nil && rests != nil && rests.Status == metav1.ConditionTrue && heals(kind, conditions, cause) {
		cause = rests // nothing heals by itself while the object is paused
	}
	w.conditions(kind, of, again, cause, sortChecks(conditions, all, cause))
	if cause != nil && !slices.ContainsFunc(all, func(d declared) bool { return d.condition == cause.Type }) {
		w.check(checkObjectReady, func() *finding { return blame(kind, of, cause, again) })
	}
	w.check(checkNotDeleted, func() *finding { return leaving(kind, of) })
	return w.end(fmt.Sprintf("%s %s is ready", kind, of.GetName()))
}

// unobserved is the cause if the conditions are about no version, or an earlier one.
func unobserved(kind string, of metav1.Object, observed int64, ready *metav1.Condition) *finding {
	if ready != nil && observed >= of.GetGeneration() {
		return nil
	}
	return &finding{
		code: status.ReasonNotObserved, message: fmt.Sprintf("Windlass has not reported on generation %d of %s %s yet", of.GetGeneration(), kind, of.GetName()),
		evidence: []Evidence{
			fact(kind, of, "metadata.generation", strconv.FormatInt(of.GetGeneration(), 10)),
			fact(kind, of, "status.observedGeneration", strconv.FormatInt(observed, 10)),
		},
	}
}

// causeOf returns the condition that names the cause: the one whose reason Ready repeats, Ready itself if there is none, or of an
// object that is ready one that tells of something that waits.
func causeOf(conditions []metav1.Condition, ready *metav1.Condition, all []declared) *metav1.Condition {
	if ready == nil {
		return nil
	}
	notReady := ready.Status != metav1.ConditionTrue
	for _, d := range all {
		found := apimeta.FindStatusCondition(conditions, d.condition)
		if found != nil && !d.fine(found) && (notReady && found.Reason == ready.Reason || !notReady && d.info) {
			return found
		}
	}
	if notReady {
		return ready
	}
	return nil
}

// heals reports whether the cause goes by itself. Of one that waits for a person, a pause is not to blame.
func heals(kind string, conditions []metav1.Condition, cause *metav1.Condition) bool {
	return Code(cause.Reason).step(kind, names{}, stalls(conditions, cause)).Heals
}

// stalls reports whether the cause is what Windlass cannot get past.
func stalls(conditions []metav1.Condition, cause *metav1.Condition) bool {
	found := apimeta.FindStatusCondition(conditions, status.Stalled)
	return found != nil && found.Status == metav1.ConditionTrue && found.Reason == cause.Reason
}

// fine reports whether the condition is as it should be.
func (d declared) fine(found *metav1.Condition) bool {
	if d.negative {
		return found.Status == metav1.ConditionFalse
	}
	return found.Status == metav1.ConditionTrue
}

// sortChecks returns the conditions that the object has: those that are fine come before the cause, and the others after it.
func sortChecks(conditions []metav1.Condition, all []declared, cause *metav1.Condition) []declared {
	var before, at, after []declared
	for _, d := range all {
		switch found := apimeta.FindStatusCondition(conditions, d.condition); {
		case found == nil:
		case found == cause || cause != nil && found.Type == cause.Type:
			at = append(at, d)
		case d.fine(found):
			before = append(before, d)
		default:
			after = append(after, d)
		}
	}
	return slices.Concat(before, at, after)
}

// conditions enters a check for each condition. What is not fine and not the cause follows from the cause, or has a lower rank.
func (w *walk) conditions(kind string, of owned, again *metav1.Time, cause *metav1.Condition, all []declared) {
	for _, d := range all {
		found := apimeta.FindStatusCondition(of.GetConditions(), d.condition)
		switch {
		case cause != nil && found.Type == cause.Type:
			w.check(d.asks, func() *finding { return blame(kind, of, found, again) })
		case d.fine(found):
			w.check(d.asks, func() *finding { return nil })
			w.note(found.Message)
		default:
			w.skip(d.asks, found.Message)
		}
	}
}

// blame returns a condition as the cause.
func blame(kind string, of owned, condition *metav1.Condition, again *metav1.Time) *finding {
	field := fmt.Sprintf("status.conditions[%s]", condition.Type)
	gaveUp := stalls(of.GetConditions(), condition)
	if gaveUp && Code(condition.Reason).step(kind, names{}, false).Heals {
		again = nil // it is the time of an attempt that does not come
	}
	found := &finding{
		code: Code(condition.Reason), message: condition.Message, gaveUp: gaveUp, at: again,
		evidence: []Evidence{fact(kind, of, field, fmt.Sprintf("%s, %s", condition.Status, condition.Reason))},
	}
	if condition.Reason == status.ReasonPaused {
		found.at, found.ends = pauseEnd(of)
	}
	return found
}

// pauseEnd returns when the pause of an object ends by itself, and whether it does.
func pauseEnd(of metav1.Object) (*metav1.Time, bool) {
	until, ends := status.PausedUntil(of)
	if !ends {
		return nil, false
	}
	return &metav1.Time{Time: until}, true
}

// leaving is the cause of an object that is being deleted, if nothing else is.
func leaving(kind string, of metav1.Object) *finding {
	if of.GetDeletionTimestamp() == nil {
		return nil
	}
	return &finding{
		code: CodeDeleting, message: fmt.Sprintf("%s %s is being deleted and waits for its finalizers", kind, of.GetName()),
		evidence: []Evidence{fact(kind, of, "metadata.finalizers", strings.Join(of.GetFinalizers(), ", "))},
	}
}
