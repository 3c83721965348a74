// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestConditionsTellWhatIs(t *testing.T) {
	t.Parallel()
	none := func(*appsv1.Deployment) {}
	tests := map[string]struct {
		size       int32
		deployment func(*appsv1.Deployment)
		// want is, for some conditions, "Status Reason: Message".
		want map[string]string
	}{
		"all pods available: Ready": {
			size: 3, deployment: none,
			want: map[string]string{
				"Ready": "True Ready: 3 pods are available", "Reconciling": "False Idle: ", "Stalled": "False NotStalled: ",
				"Available":      "True MinimumReplicasAvailable: Deployment has minimum availability.",
				"Progressing":    "True NewReplicaSetAvailable: done",
				"ReplicaFailure": "False NoReplicaFailure: ", "ChildConflict": "False NoConflict: ",
			},
		},
		"no pods wanted and none there: Ready": {
			size: 0, deployment: func(d *appsv1.Deployment) { replicas(d, 0, 0, 0) },
			want: map[string]string{"Ready": "True Ready: spec.size is 0: the PodSet has no pods"},
		},
		"one pod wanted and there: Ready": {
			size: 1, deployment: func(d *appsv1.Deployment) { replicas(d, 1, 1, 1) },
			want: map[string]string{"Ready": "True Ready: 1 pod is available"},
		},
		"two of three are not available, which the Deployment calls enough: not Ready": {
			size: 3, deployment: func(d *appsv1.Deployment) { replicas(d, 3, 3, 1) },
			want: map[string]string{
				"Ready":       "False RollingOut: waiting for 2 of 3 pods to be available",
				"Reconciling": "True RollingOut: waiting for 2 of 3 pods to be available",
				"Available":   "True MinimumReplicasAvailable: Deployment has minimum availability.",
			},
		},
		"old pods are still there: not Ready": {
			size: 3, deployment: func(d *appsv1.Deployment) { replicas(d, 4, 3, 4) },
			want: map[string]string{"Ready": "False RollingOut: waiting for 1 pod to be removed"},
		},
		"a rollout has just begun: not Ready": {
			size: 3, deployment: func(d *appsv1.Deployment) { replicas(d, 3, 1, 3) },
			want: map[string]string{"Ready": "False RollingOut: waiting for 2 of 3 pods to be created from the current template"},
		},
		"the Deployment's status is about an older spec: Unknown": {
			size: 3, deployment: func(d *appsv1.Deployment) { d.Generation = 2 },
			want: map[string]string{
				"Ready":       "Unknown DeploymentPending: the Deployment controller has not observed the Deployment",
				"Reconciling": "True DeploymentPending: the Deployment controller has not observed the Deployment",
				"Available":   "Unknown DeploymentPending: the Deployment controller has not observed the Deployment",
			},
		},
		"the Deployment has no conditions so far: Unknown": {
			size: 3, deployment: func(d *appsv1.Deployment) { d.Status.Conditions = nil },
			want: map[string]string{
				"Available":      "Unknown DeploymentPending: the Deployment does not have this condition yet",
				"ReplicaFailure": "False NoReplicaFailure: ",
			},
		},
		"a Deployment without a deadline has no condition Progressing: the counts say it": {
			size: 3, deployment: func(d *appsv1.Deployment) {
				d.Spec.ProgressDeadlineSeconds = new(int32(math.MaxInt32))
				d.Status.Conditions = slices.DeleteFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
					return c.Type == appsv1.DeploymentProgressing
				})
			},
			want: map[string]string{"Ready": "True Ready: 3 pods are available", "Progressing": "True RolledOut: "},
		},
		"pods are forbidden by a quota: the reason is passed on": {
			size: 3, deployment: func(d *appsv1.Deployment) {
				replicas(d, 1, 1, 1)
				d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
					Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate",
					Message: "exceeded quota",
				})
			},
			want: map[string]string{
				"Ready":       "False FailedCreate: exceeded quota",
				"Reconciling": "True RollingOut: waiting for 2 of 3 pods to be created from the current template",
			},
		},
		"the deadline of the rollout has passed: Stalled": {
			size: 3, deployment: func(d *appsv1.Deployment) {
				replicas(d, 3, 3, 2)
				d.Status.Conditions[0] = appsv1.DeploymentCondition{
					Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse,
					Reason: "ProgressDeadlineExceeded", Message: `ReplicaSet "web-1" has timed out progressing.`,
				}
			},
			want: map[string]string{
				"Ready":       `False ProgressDeadlineExceeded: ReplicaSet "web-1" has timed out progressing.`,
				"Stalled":     `True ProgressDeadlineExceeded: ReplicaSet "web-1" has timed out progressing.`,
				"Reconciling": "False Idle: ",
			},
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			podSet := aPodSet(sized(tt.size))
			deployment := settled(t, podSet)
			tt.deployment(deployment)
			seen := &observation{deployment: deployment}
			described(podSet, seen, decision{}, rollout(podSet, *seen))
			testkit.CheckContract(t, podSet)
			if diff := cmp.Diff(tt.want, pick(podSet, tt.want)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStatusWithoutAnObservationIsUnknown(t *testing.T) {
	t.Parallel()
	podSet := aPodSet()
	described(podSet, nil, decision{}, flow.Fail(errors.New("no answer")))
	testkit.CheckContract(t, podSet)
	want := map[string]string{
		"Ready":       "Unknown NotObserved: Windlass could not look at this: the conditions Reconciling and Stalled say why",
		"Available":   "Unknown NotObserved: Windlass could not look at this: the conditions Reconciling and Stalled say why",
		"Reconciling": "True Error: no answer",
	}
	if diff := cmp.Diff(want, pick(podSet, want)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if podSet.Status.Nodes == nil {
		t.Error("nodes is null, which the schema refuses")
	}
}

func TestNodesAreCapped(t *testing.T) {
	t.Parallel()
	podSet := aPodSet()
	names := make([]string, 501)
	for i := range names {
		names[i] = fmt.Sprintf("web-%03d", i)
	}
	described(podSet, &observation{pods: names}, decision{}, flow.Done())
	if len(podSet.Status.Nodes) != 500 || !podSet.Status.NodesTruncated {
		t.Errorf("got %d names, truncated: %t", len(podSet.Status.Nodes), podSet.Status.NodesTruncated)
	}
	described(podSet, &observation{pods: names[:500]}, decision{}, flow.Done())
	if len(podSet.Status.Nodes) != 500 || podSet.Status.NodesTruncated {
		t.Errorf("got %d names, truncated: %t", len(podSet.Status.Nodes), podSet.Status.NodesTruncated)
	}
}

func TestTroubleIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	stalled := func(reason, message string, generation int64) *appsv1alpha1.PodSet {
		podSet := aPodSet(func(p *appsv1alpha1.PodSet) { p.Generation = generation })
		taken := decision{}
		if reason == appsv1alpha1.ReasonNameTaken {
			taken.conflict = message
		}
		described(podSet, &observation{}, taken, flow.Stall(reason, errors.New(message)))
		return podSet
	}
	tests := map[string]struct {
		before, after *appsv1alpha1.PodSet
		want          []string
	}{
		"a conflict that begins is announced": {
			before: aPodSet(), after: stalled("NameTaken", "in the way", 1), want: []string{"NameTaken in the way"},
		},
		"a conflict that lasts is not": {
			before: stalled("NameTaken", "in the way", 1), after: stalled("NameTaken", "in the way", 2),
		},
		"a refusal that begins is announced": {
			before: aPodSet(), after: stalled("ChildRefused", "invalid", 1), want: []string{"ChildRefused invalid"},
		},
		"another refusal of a changed spec is announced again": {
			before: stalled("ChildRefused", "invalid", 1), after: stalled("ChildRefused", "worse", 2),
			want: []string{"ChildRefused worse"},
		},
		"a trouble that ends is no news": {
			before: stalled("ChildRefused", "invalid", 1), after: aPodSet(),
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, transition := range status.Transitions(announcements(), tt.before.Status.Conditions, tt.after.Status.Conditions) {
				got = append(got, transition.Reason+" "+transition.Note)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// described writes into the PodSet what a pass with that observation and end would write.
func described(podSet *appsv1alpha1.PodSet, seen *observation, decided decision, outcome flow.Outcome) {
	pass := &scope{Pass: flow.NewPass(podSet, time.Unix(1, 0)), seen: seen, decision: decided}
	pass.Apply(describe(pass, outcome), outcome)
}

// settled returns the Deployment of a PodSet with all pods available.
func settled(t *testing.T, podSet *appsv1alpha1.PodSet) *appsv1.Deployment {
	t.Helper()
	deployment := deploymentOf(t, podSet)
	deployment.Generation = 1
	deployment.Status.ObservedGeneration = 1
	replicas(deployment, 3, 3, 3)
	deployment.Status.Conditions = []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable", Message: "done"},
		{
			Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable",
			Message: "Deployment has minimum availability.",
		},
	}
	return deployment
}

func replicas(d *appsv1.Deployment, all, current, available int32) {
	d.Status.Replicas, d.Status.UpdatedReplicas = all, current
	d.Status.ReadyReplicas, d.Status.AvailableReplicas = available, available
}

// pick returns the conditions that are asked for as "Status Reason: Message".
func pick(obj status.Object, wanted map[string]string) map[string]string {
	got := make(map[string]string, len(wanted))
	for conditionType := range wanted {
		if c := apimeta.FindStatusCondition(obj.GetConditions(), conditionType); c != nil {
			got[conditionType] = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	return got
}
