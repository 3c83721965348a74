// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/why"
)

func TestThePoolIsLookedAtWhenPodsDoNotCome(t *testing.T) {
	t.Parallel()
	held := func(p *appsv1alpha1.PodSet) { p.Spec.Paused = true }
	unpooled := func(p *appsv1alpha1.PodSet) { p.Spec.NodePool = "" }
	tests := map[string]struct {
		podSet     func(*appsv1alpha1.PodSet)
		deployment func(*appsv1.Deployment)
		want       bool
	}{
		"all pods are available": {deployment: func(*appsv1.Deployment) {}},
		"a pod is not available": {deployment: func(d *appsv1.Deployment) { replicas(d, 3, 3, 2) }, want: true},
		"a pod is not created":   {deployment: func(d *appsv1.Deployment) { replicas(d, 2, 2, 2) }, want: true},
		"a pod is not available, and there is no pool to blame": {
			podSet: unpooled, deployment: func(d *appsv1.Deployment) { replicas(d, 3, 3, 2) },
		},
		"old pods stay because new ones are not created":    {deployment: func(d *appsv1.Deployment) { replicas(d, 3, 0, 3) }, want: true},
		"old pods stay because new ones are not available":  {deployment: func(d *appsv1.Deployment) { replicas(d, 6, 3, 3) }, want: true},
		"old pods stay because the rollout is held back":    {podSet: held, deployment: func(d *appsv1.Deployment) { replicas(d, 3, 0, 3) }},
		"a rollout is held back and a pod is not available": {podSet: held, deployment: func(d *appsv1.Deployment) { replicas(d, 3, 0, 2) }, want: true},
		"the Deployment's status is about an older spec":    {deployment: func(d *appsv1.Deployment) { d.Generation++; replicas(d, 1, 1, 1) }},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			podSet := aPodSet(pooled("gpu"))
			if tt.podSet != nil {
				tt.podSet(podSet)
			}
			deployment := settled(t, podSet)
			tt.deployment(deployment)
			if got := lacking(podSet, deployment); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
	going := settled(t, aPodSet(pooled("gpu"), sized(0)))
	replicas(going, 3, 3, 2)
	if lacking(aPodSet(pooled("gpu"), sized(0)), going) {
		t.Error("pods that are to go are not missing")
	}
	if lacking(aPodSet(pooled("gpu")), nil) {
		t.Error("without a Deployment there is nothing that pods could be missing of")
	}
}

func TestTheExplanationIsWhatReadySays(t *testing.T) {
	t.Parallel()
	unavailable := func(d *appsv1.Deployment) {
		d.Status.Conditions[1] = appsv1.DeploymentCondition{
			Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Reason: "MinimumReplicasUnavailable",
			Message: "Deployment does not have minimum availability.",
		}
	}
	refused := func(d *appsv1.Deployment) {
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
			Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "forbidden",
		})
	}
	nobody := why.Pool{Name: "gpu"}
	empty := *emptyPool(t)
	tests := map[string]struct {
		pool       why.Pool
		deployment []func(*appsv1.Deployment)
		want       map[string]string
	}{
		"the Deployment's own words stay with its condition": {
			pool: nobody, deployment: []func(*appsv1.Deployment){unavailable},
			want: map[string]string{
				"Ready":       "False PoolNotFound: waiting for 3 of 3 pods to be available: pool gpu does not exist",
				"Reconciling": "True PoolNotFound: waiting for 3 of 3 pods to be available: pool gpu does not exist",
				"Available":   "False MinimumReplicasUnavailable: Deployment does not have minimum availability.",
			},
		},
		"pods that are refused for the pool's sake are explained": {
			pool: nobody, deployment: []func(*appsv1.Deployment){refused},
			want: map[string]string{
				"Ready":          "False PoolNotFound: waiting for 3 of 3 pods to be available: pool gpu does not exist",
				"ReplicaFailure": "True FailedCreate: forbidden",
			},
		},
		"pods that are refused for something else are not blamed on the pool": {
			pool: empty, deployment: []func(*appsv1.Deployment){refused},
			want: map[string]string{
				"Ready":       "False FailedCreate: forbidden",
				"Reconciling": "True RollingOut: waiting for 3 of 3 pods to be available",
			},
		},
		"old pods that stay do not hide that new ones do not come": {
			pool: empty, deployment: []func(*appsv1.Deployment){func(d *appsv1.Deployment) { replicas(d, 6, 3, 3) }},
			want: map[string]string{
				"Ready": "False PoolHasNoNode: waiting for 3 of 6 pods to be available: pool gpu has no nodes",
			},
		},
		"the explanation outlives the deadline of the rollout": {
			pool: empty, deployment: []func(*appsv1.Deployment){func(d *appsv1.Deployment) {
				d.Status.Conditions[0] = appsv1.DeploymentCondition{
					Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse,
					Reason: "ProgressDeadlineExceeded", Message: `ReplicaSet "web-1" has timed out progressing.`,
				}
			}},
			want: map[string]string{
				"Ready":       `False PoolHasNoNode: pool gpu has no nodes; ReplicaSet "web-1" has timed out progressing.`,
				"Stalled":     `True PoolHasNoNode: pool gpu has no nodes; ReplicaSet "web-1" has timed out progressing.`,
				"Reconciling": "False Idle: ",
				"Progressing": `False ProgressDeadlineExceeded: ReplicaSet "web-1" has timed out progressing.`,
			},
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			podSet := aPodSet(pooled("gpu"))
			deployment := settled(t, podSet)
			replicas(deployment, 3, 3, 0)
			for _, change := range tt.deployment {
				change(deployment)
			}
			pass := &scope{Pass: flow.NewPass(podSet, time.Unix(1, 0)), seen: &observation{deployment: deployment, pool: &tt.pool}}
			outcome := follow(t.Context(), pass)
			pass.Apply(describe(pass, outcome), outcome)
			testkit.CheckContract(t, podSet)
			if diff := cmp.Diff(tt.want, pick(podSet, tt.want)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if pass.seen.cause == nil {
				return
			}
			told := status.Transitions(announcements(), pass.Before.Status.Conditions, podSet.Status.Conditions)
			if len(told) != 1 || !told[0].Warning {
				t.Errorf("announced %+v, want one warning", told)
			}
			if told := status.Transitions(announcements(), podSet.Status.Conditions, podSet.Status.Conditions); len(told) != 0 {
				t.Errorf("announced %+v a second time", told)
			}
		})
	}
}

func pooled(pool string) func(*appsv1alpha1.PodSet) {
	return func(p *appsv1alpha1.PodSet) { p.Spec.NodePool = pool }
}
