// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// Causes of owners of pods that are no Deployments.
const (
	// CodePodsMissing is for pods that have not been created; the status does not say why, the events do.
	CodePodsMissing Code = "PodsMissing"
	// CodePodsUnavailable is for pods that exist and are not available.
	CodePodsUnavailable Code = "PodsUnavailable"
	// CodeWaitsForDeletion is for pods that get the new template only when somebody deletes them.
	CodeWaitsForDeletion Code = "WaitsForDeletion"
	// CodePartitioned is for pods that the partition of an update leaves alone.
	CodePartitioned Code = "Partitioned"
	// CodeNoNodeChosen is for a DaemonSet that wants a pod on no node.
	CodeNoNodeChosen Code = "NoNodeChosen"
)

// ReplicaSet explains why the pods of a ReplicaSet are not all available.
func ReplicaSet(of *appsv1.ReplicaSet) *Explanation {
	w := newWalk(ObjectOf(kindReplicaSet, of))
	size, counts := orOne(of.Spec.Replicas), of.Status
	w.observed(kindReplicaSet, of, counts.ObservedGeneration)
	w.check(checkPodsCreatable, func() *finding { return refusedPods(of) })
	w.check(checkAllPodsCreated, func() *finding { return missingOf(kindReplicaSet, of, "status.replicas", counts.Replicas, size) })
	w.check(checkAllPodsAvailable, func() *finding {
		return unavailableOf(kindReplicaSet, of, "status.availableReplicas", counts.AvailableReplicas, size)
	})
	w.check(checkNotDeleted, func() *finding { return leaving(kindReplicaSet, of) })
	return w.end(fmt.Sprintf("All pods of ReplicaSet %s are available", of.Name))
}

// refusedPods is the cause if the API server refuses the pods of a ReplicaSet.
func refusedPods(of *appsv1.ReplicaSet) *finding {
	at := slices.IndexFunc(of.Status.Conditions, func(c appsv1.ReplicaSetCondition) bool {
		return c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue
	})
	if at < 0 {
		return nil
	}
	failure := &of.Status.Conditions[at]
	return &finding{
		code: refusalOf(failure.Message, Code(failure.Reason)), message: failure.Message,
		evidence: []Evidence{fact(kindReplicaSet, of, "status.conditions[ReplicaFailure]", failure.Reason)},
	}
}

// StatefulSet explains why the pods of a StatefulSet are not all available and up to date.
func StatefulSet(of *appsv1.StatefulSet) *Explanation {
	w := newWalk(ObjectOf(kindStatefulSet, of))
	size, counts := orOne(of.Spec.Replicas), of.Status
	w.observed(kindStatefulSet, of, counts.ObservedGeneration)
	w.check(checkExistingPodsAvailable, func() *finding {
		return unavailableOf(kindStatefulSet, of, "status.availableReplicas", counts.AvailableReplicas, min(counts.Replicas, size))
	})
	w.check(checkAllPodsCreated, func() *finding { return missingOf(kindStatefulSet, of, "status.replicas", counts.Replicas, size) })
	w.check(checkAllPodsCurrent, func() *finding { return oldPodsOf(of) })
	w.check(checkNotDeleted, func() *finding { return leaving(kindStatefulSet, of) })
	return w.end(fmt.Sprintf("All pods of StatefulSet %s are available", of.Name))
}

// oldPodsOf is the cause if pods of a StatefulSet do not run its current template.
func oldPodsOf(of *appsv1.StatefulSet) *finding {
	counts := of.Status
	old := orOne(of.Spec.Replicas) - counts.UpdatedReplicas
	if counts.UpdateRevision == counts.CurrentRevision || old <= 0 {
		return nil
	}
	revision := fact(kindStatefulSet, of, "status.updateRevision", counts.UpdateRevision)
	if of.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return waitsForDeletion(kindStatefulSet, of, old, revision)
	}
	if rolling := of.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil && old <= *rolling.Partition {
		return &finding{
			code: CodePartitioned, message: fmt.Sprintf("%d pods keep the old template: the partition of the update is %d", old, *rolling.Partition),
			evidence: []Evidence{fact(kindStatefulSet, of, "spec.updateStrategy.rollingUpdate.partition", decimal(*rolling.Partition)), revision},
		}
	}
	return &finding{
		code: appsv1alpha1.ReasonRollingOut, message: fmt.Sprintf("%d pods do not run the current template yet", old), evidence: []Evidence{revision},
	}
}

// DaemonSet explains why the pods of a DaemonSet are not on all of its nodes, available and up to date.
func DaemonSet(of *appsv1.DaemonSet) *Explanation {
	w := newWalk(ObjectOf(kindDaemonSet, of))
	counts := of.Status
	w.observed(kindDaemonSet, of, counts.ObservedGeneration)
	w.check(checkNodeChosen, func() *finding {
		if counts.DesiredNumberScheduled > 0 {
			return nil
		}
		return &finding{
			code: CodeNoNodeChosen, message: "the selector, the affinity and the tolerations of the pod template choose no node",
			evidence: []Evidence{fact(kindDaemonSet, of, "status.desiredNumberScheduled", "0")},
		}
	})
	w.check(checkAllPodsCreated, func() *finding {
		return missingOf(kindDaemonSet, of, "status.currentNumberScheduled", counts.CurrentNumberScheduled, counts.DesiredNumberScheduled)
	})
	w.check(checkAllPodsAvailable, func() *finding {
		return unavailableOf(kindDaemonSet, of, "status.numberAvailable", counts.NumberAvailable, counts.DesiredNumberScheduled)
	})
	w.check(checkAllPodsCurrent, func() *finding {
		old := counts.DesiredNumberScheduled - counts.UpdatedNumberScheduled
		updated := fact(kindDaemonSet, of, "status.updatedNumberScheduled", decimal(counts.UpdatedNumberScheduled))
		switch {
		case old <= 0:
			return nil
		case of.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType:
			return waitsForDeletion(kindDaemonSet, of, old, updated)
		}
		return &finding{
			code: appsv1alpha1.ReasonRollingOut, message: fmt.Sprintf("%d pods do not run the current template yet", old), evidence: []Evidence{updated},
		}
	})
	w.check(checkNotDeleted, func() *finding { return leaving(kindDaemonSet, of) })
	return w.end(fmt.Sprintf("All pods of DaemonSet %s are available", of.Name))
}

// observed checks that the controller of the object has looked at it as it is now.
func (w *walk) observed(kind string, of metav1.Object, observed int64) {
	w.check(checkObservedByKubernetes, func() *finding {
		if observed >= of.GetGeneration() {
			return nil
		}
		return &finding{
			code: status.ReasonNotObserved, message: fmt.Sprintf("the %s controller has not looked at generation %d yet", kind, of.GetGeneration()),
			evidence: []Evidence{fact(kind, of, "status.observedGeneration", strconv.FormatInt(observed, 10))},
		}
	})
}

// missingOf is the cause if fewer pods have been created than wanted.
func missingOf(kind string, of metav1.Object, field string, have, want int32) *finding {
	if have >= want {
		return nil
	}
	return &finding{
		code: CodePodsMissing, message: fmt.Sprintf("%d of %d pods have not been created", want-have, want),
		evidence: []Evidence{fact(kind, of, field, decimal(have))},
	}
}

// unavailableOf is the cause if fewer pods are available than wanted.
func unavailableOf(kind string, of metav1.Object, field string, have, want int32) *finding {
	if have >= want {
		return nil
	}
	return &finding{
		code: CodePodsUnavailable, message: fmt.Sprintf("%d of %d pods are not available", want-have, want),
		evidence: []Evidence{fact(kind, of, field, decimal(have))},
	}
}

func waitsForDeletion(kind string, of metav1.Object, old int32, evidence Evidence) *finding {
	return &finding{
		code: CodeWaitsForDeletion, message: fmt.Sprintf("%d pods keep the old template until they are deleted", old),
		evidence: []Evidence{fact(kind, of, "spec.updateStrategy.type", "OnDelete"), evidence},
	}
}

// orOne returns a number that is 1 if nobody has set it.
func orOne(number *int32) int32 {
	if number == nil {
		return 1
	}
	return *number
}

func decimal(number int32) string { return strconv.Itoa(int(number)) }

// refusalOf tells the ways in which the API server refuses pods apart, by its fixed words.
func refusalOf(message string, otherwise Code) Code {
	for _, known := range []struct {
		words string
		code  Code
	}{
		{"exceeded quota", CodeQuota},
		{"must specify", CodeQuota},
		{"RuntimeClass", CodeRuntimeClassMissing},
		{"violates PodSecurity", CodeAdmission},
		{"ValidatingAdmissionPolicy", CodeAdmission},
		{"admission webhook", CodeAdmission},
		{"failed calling webhook", CodeAdmission},
	} {
		if strings.Contains(message, known.words) && strings.Contains(message, "forbidden") || known.code == CodeAdmission && strings.Contains(message, known.words) {
			return known.code
		}
	}
	return otherwise
}
