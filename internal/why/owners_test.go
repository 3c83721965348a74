// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/why"
)

func TestOwnersOfPods(t *testing.T) {
	t.Parallel()
	set := func(change func(*appsv1.ReplicaSet)) *why.Explanation {
		of := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(3))}}
		of.Status.Replicas, of.Status.AvailableReplicas = 3, 3
		change(of)
		return why.ReplicaSet(of)
	}
	stateful := func(change func(*appsv1.StatefulSet)) *why.Explanation {
		of := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}, Spec: appsv1.StatefulSetSpec{Replicas: new(int32(3))}}
		of.Status.Replicas, of.Status.AvailableReplicas, of.Status.UpdatedReplicas = 3, 3, 3
		of.Status.CurrentRevision, of.Status.UpdateRevision = "db-1", "db-1"
		change(of)
		return why.StatefulSet(of)
	}
	daemon := func(change func(*appsv1.DaemonSet)) *why.Explanation {
		of := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent"}}
		of.Status.DesiredNumberScheduled, of.Status.CurrentNumberScheduled, of.Status.NumberAvailable, of.Status.UpdatedNumberScheduled = 3, 3, 3, 3
		change(of)
		return why.DaemonSet(of)
	}
	tests := map[string]struct {
		got        *why.Explanation
		want, next string
	}{
		"a ReplicaSet is available":  {got: set(func(*appsv1.ReplicaSet) {}), want: "All pods of ReplicaSet web are available."},
		"nobody looked at it":        {got: set(func(s *appsv1.ReplicaSet) { s.Generation = 2 }), want: "NotObserved: The ReplicaSet controller has not looked at generation 2 yet.", next: "kubectl -n kube-system get pods,leases"},
		"a ReplicaSet without pods":  {got: set(func(s *appsv1.ReplicaSet) { s.Status.Replicas = 1 }), want: "PodsMissing: 2 of 3 pods have not been created.", next: "kubectl describe replicaset web -n shop"},
		"its pods are not available": {got: set(func(s *appsv1.ReplicaSet) { s.Status.AvailableReplicas = 1 }), want: "PodsUnavailable: 2 of 3 pods are not available.", next: "kubectl get pods -n shop"},
		"a quota refuses its pods": {
			got: set(func(s *appsv1.ReplicaSet) {
				s.Status.Replicas = 0
				s.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: `pods "web-1" is forbidden: exceeded quota: q`}}
			}),
			want: `QuotaExceeded: Pods "web-1" is forbidden: exceeded quota: q.`, next: "kubectl describe resourcequotas -n shop",
		},
		"a StatefulSet is available":            {got: stateful(func(*appsv1.StatefulSet) {}), want: "All pods of StatefulSet db are available."},
		"a StatefulSet waits for its first pod": {got: stateful(func(s *appsv1.StatefulSet) { s.Status.Replicas, s.Status.AvailableReplicas = 1, 0 }), want: "PodsUnavailable: 1 of 1 pods are not available.", next: "kubectl get pods -n shop"},
		"a StatefulSet without pods":            {got: stateful(func(s *appsv1.StatefulSet) { s.Status.Replicas, s.Status.AvailableReplicas = 0, 0 }), want: "PodsMissing: 3 of 3 pods have not been created.", next: "kubectl describe statefulset db -n shop"},
		"a StatefulSet is being updated": {
			got:  stateful(func(s *appsv1.StatefulSet) { s.Status.UpdatedReplicas, s.Status.UpdateRevision = 1, "db-2" }),
			want: "RollingOut: 2 pods do not run the current template yet.", next: "kubectl rollout status statefulset/db -n shop --watch=false",
		},
		"a StatefulSet that updates on deletion": {
			got: stateful(func(s *appsv1.StatefulSet) {
				s.Status.UpdatedReplicas, s.Status.UpdateRevision = 1, "db-2"
				s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
			}),
			want: "WaitsForDeletion: 2 pods keep the old template until they are deleted.", next: "kubectl get pods -n shop",
		},
		"a partition": {
			got: stateful(func(s *appsv1.StatefulSet) {
				s.Status.UpdatedReplicas, s.Status.UpdateRevision = 1, "db-2"
				s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}
			}),
			want: "Partitioned: 2 pods keep the old template: the partition of the update is 2.", next: "kubectl edit statefulset db -n shop",
		},
		"a DaemonSet is available":        {got: daemon(func(*appsv1.DaemonSet) {}), want: "All pods of DaemonSet agent are available."},
		"a DaemonSet chooses no node":     {got: daemon(func(d *appsv1.DaemonSet) { d.Status = appsv1.DaemonSetStatus{} }), want: "NoNodeChosen: The selector, the affinity and the tolerations of the pod template choose no node.", next: "kubectl get nodes --show-labels"},
		"a DaemonSet lacks pods":          {got: daemon(func(d *appsv1.DaemonSet) { d.Status.CurrentNumberScheduled = 2 }), want: "PodsMissing: 1 of 3 pods have not been created.", next: "kubectl describe daemonset agent -n shop"},
		"pods of a DaemonSet do not run":  {got: daemon(func(d *appsv1.DaemonSet) { d.Status.NumberAvailable = 2 }), want: "PodsUnavailable: 1 of 3 pods are not available.", next: "kubectl get pods -n shop"},
		"a DaemonSet is being updated":    {got: daemon(func(d *appsv1.DaemonSet) { d.Status.UpdatedNumberScheduled = 2 }), want: "RollingOut: 1 pods do not run the current template yet.", next: "kubectl rollout status daemonset/agent -n shop --watch=false"},
		"a DaemonSet updates on deletion": {got: daemon(func(d *appsv1.DaemonSet) { d.Status.UpdatedNumberScheduled, d.Spec.UpdateStrategy.Type = 2, "OnDelete" }), want: "WaitsForDeletion: 1 pods keep the old template until they are deleted.", next: "kubectl get pods -n shop"},
		"a DaemonSet that is being removed": {
			got:  daemon(func(d *appsv1.DaemonSet) { d.DeletionTimestamp = &metav1.Time{} }),
			want: "Deleting: DaemonSet agent is being deleted and waits for its finalizers.", next: "kubectl get daemonset agent -n shop -o jsonpath='{.metadata.finalizers}'",
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			checkTold(t, tt.got, tt.want, tt.next)
		})
	}
}

// TestNextStepLooksForAnotherProgram is about what Kubernetes works on: its controllers are not in Windlass, and neither are its finalizers.
func TestNextStepLooksForAnotherProgram(t *testing.T) {
	t.Parallel()
	of := metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 2}
	for kind, got := range map[string]*why.Explanation{
		"Deployment": why.Deployment(&appsv1.Deployment{ObjectMeta: of}), "ReplicaSet": why.ReplicaSet(&appsv1.ReplicaSet{ObjectMeta: of}),
		"StatefulSet": why.StatefulSet(&appsv1.StatefulSet{ObjectMeta: of}), "DaemonSet": why.DaemonSet(&appsv1.DaemonSet{ObjectMeta: of}),
	} {
		want := &why.Step{Text: "If it stays, look whether kube-controller-manager is running.", Command: "kubectl -n kube-system get pods,leases", Heals: true}
		if diff := cmp.Diff(want, got.Failure().Next); diff != "" {
			t.Errorf("a %s that nobody has looked at (-want +got):\n%s", kind, diff)
		}
	}
	gone := metav1.ObjectMeta{Namespace: "shop", Name: "web", DeletionTimestamp: &metav1.Time{}}
	done := batchv1.JobStatus{Succeeded: 1}
	for kind, got := range map[string]*why.Explanation{
		"deployment": why.Deployment(&appsv1.Deployment{ObjectMeta: gone, Spec: appsv1.DeploymentSpec{Replicas: new(int32)}}),
		"job":        why.Job(&batchv1.Job{ObjectMeta: gone, Status: done}),
		"cronjob":    why.CronJob(&batchv1.CronJob{ObjectMeta: gone}, nil, ""),
	} {
		if failure, want := got.Failure(), "kubectl get "+kind+" web -n shop -o jsonpath='{.metadata.finalizers}'"; failure == nil || failure.Next.Command != want {
			t.Errorf("the next step of a %s that is being deleted is not %q: %+v", kind, want, failure)
		}
	}
}

func TestJob(t *testing.T) {
	t.Parallel()
	condition := func(of batchv1.JobConditionType, reason, message string) batchv1.JobCondition {
		return batchv1.JobCondition{Type: of, Status: corev1.ConditionTrue, Reason: reason, Message: message}
	}
	tests := map[string]struct {
		change     func(*batchv1.Job)
		want, next string
	}{
		"it runs": {change: func(*batchv1.Job) {}, want: "Job load runs: 1 of its pods have completed."},
		"it has completed": {
			change: func(j *batchv1.Job) {
				j.Status = batchv1.JobStatus{Conditions: []batchv1.JobCondition{condition(batchv1.JobComplete, "CompletionsReached", "")}}
			},
			want: "Job load has completed.",
		},
		"it has failed": {
			change: func(j *batchv1.Job) {
				j.Status.Conditions = []batchv1.JobCondition{condition(batchv1.JobFailed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")}
			},
			want: "JobFailed: The Job has failed (BackoffLimitExceeded): Job has reached the specified backoff limit.", next: "kubectl logs job/load -n shop",
		},
		"it is about to fail": {
			change: func(j *batchv1.Job) {
				j.Status.Conditions = []batchv1.JobCondition{condition(batchv1.JobFailureTarget, "DeadlineExceeded", "Job was active longer than specified deadline")}
			},
			want: "JobFailed: The Job has failed (DeadlineExceeded): Job was active longer than specified deadline.", next: "kubectl logs job/load -n shop",
		},
		"it is suspended": {
			change: func(j *batchv1.Job) { j.Spec.Suspend = new(true) },
			want:   "JobSuspended: The Job is suspended, and has no pods until it is resumed.", next: `kubectl patch job load -n shop --type merge -p '{"spec":{"suspend":false}}'`,
		},
		"its pods are missing":        {change: func(j *batchv1.Job) { j.Status.Active = 0 }, want: "PodsMissing: 2 of 2 pods have not been created.", next: "kubectl describe job load -n shop"},
		"the last pod is missing":     {change: func(j *batchv1.Job) { j.Status.Active, j.Status.Succeeded = 0, 4 }, want: "PodsMissing: 1 of 1 pods have not been created.", next: "kubectl describe job load -n shop"},
		"it waits after a failed pod": {change: func(j *batchv1.Job) { j.Status.Active, j.Status.Failed = 1, 3 }, want: "JobRetries: 3 pods have failed, and Kubernetes starts another one after a delay.", next: "kubectl logs job/load -n shop"},
		"an index has failed for good": {change: func(j *batchv1.Job) {
			j.Status.Active, j.Status.Succeeded, j.Status.Failed, j.Status.FailedIndexes, j.Status.Ready = 1, 1, 3, new("1,3-4"), new(int32(1))
		}, want: "Job load runs: 1 of its pods have completed, and these indexes have failed: 1,3-4."},
		"an index is tried again beside one that failed": {change: func(j *batchv1.Job) {
			j.Status.Active, j.Status.Succeeded, j.Status.Failed, j.Status.FailedIndexes, j.Status.Ready = 1, 1, 3, new("1,3"), new(int32(1))
		}, want: "JobRetries: 3 pods have failed, and Kubernetes starts another one after a delay.", next: "kubectl logs job/load -n shop"},
		"its pods are not ready":       {change: func(j *batchv1.Job) { j.Status.Ready = new(int32(0)) }, want: "PodsUnavailable: 2 of 2 pods are not ready.", next: "kubectl get pods -n shop"},
		"a queue without completions":  {change: func(j *batchv1.Job) { j.Spec.Completions, j.Status.Active = nil, 0 }, want: "Job load runs: 1 of its pods have completed."},
		"nobody has looked at its end": {change: func(j *batchv1.Job) { j.Spec.Completions, j.Status = nil, batchv1.JobStatus{} }, want: "PodsMissing: 2 of 2 pods have not been created.", next: "kubectl describe job load -n shop"},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			of := &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "load"},
				Spec:       batchv1.JobSpec{Parallelism: new(int32(2)), Completions: new(int32(5))},
				Status:     batchv1.JobStatus{Active: 2, Succeeded: 1, Ready: new(int32(2))},
			}
			tt.change(of)
			checkTold(t, why.Job(of), tt.want, tt.next)
		})
	}
}

func TestCronJob(t *testing.T) {
	t.Parallel()
	job := func(change func(*batchv1.Job)) *batchv1.Job {
		of := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "load-1"}, Status: batchv1.JobStatus{Active: 1, Ready: new(int32(1))}}
		change(of)
		return of
	}
	ended := func(as batchv1.JobConditionType) *batchv1.Job {
		return job(func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: as, Status: corev1.ConditionTrue, Reason: "Test", Message: "as the test wants"}}
		})
	}
	now := metav1.Now()
	tests := map[string]struct {
		suspend    bool
		scheduled  *metav1.Time
		last       *batchv1.Job
		unseen     string
		want, next string
		because    why.Code
	}{
		"it has created nothing yet": {want: `CronJob load has not created a Job yet; its schedule is "0 3 * * *".`},
		"its last Job has completed": {
			scheduled: &now, last: ended(batchv1.JobComplete), want: `CronJob load waits for the next time of its schedule, "0 3 * * *".`,
		},
		"its last Job was removed": {scheduled: &now, want: `CronJob load waits for the next time of its schedule, "0 3 * * *".`},
		"its last Job runs":        {scheduled: &now, last: job(func(*batchv1.Job) {}), want: "The last Job of CronJob load, load-1, runs."},
		"its Jobs cannot be read":  {unseen: "you may not list jobs", want: "Nothing that could be looked at explains it."},
		"it is suspended": {
			suspend: true, scheduled: &now, last: ended(batchv1.JobFailed), want: "CronJobSuspended: The CronJob is suspended, and creates no Jobs until it is resumed.",
			next: `kubectl patch cronjob load -n shop --type merge -p '{"spec":{"suspend":false}}'`,
		},
		"its last Job has failed": {
			scheduled: &now, last: ended(batchv1.JobFailed), want: "LastJobFailed: The last Job, load-1, has failed.",
			next: "kubectl describe cronjob load -n shop", because: why.CodeJobFailed,
		},
		"its last Job has no pods": {
			scheduled: &now, last: job(func(j *batchv1.Job) { j.Status.Active = 0 }), want: "LastJobWaits: The last Job, load-1, makes no progress.",
			next: "kubectl describe cronjob load -n shop", because: why.CodePodsMissing,
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			of := &batchv1.CronJob{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "load"}, Spec: batchv1.CronJobSpec{Schedule: "0 3 * * *", Suspend: &tt.suspend},
				Status: batchv1.CronJobStatus{LastScheduleTime: tt.scheduled},
			}
			got := why.CronJob(of, tt.last, tt.unseen)
			checkTold(t, got, tt.want, tt.next)
			because := why.Code("")
			if got.Because != nil {
				because = got.Because.Failure().Code
			}
			if because != tt.because {
				t.Errorf("because of %q, want %q", because, tt.because)
			}
		})
	}
}

// checkTold compares what an explanation says, and the command of its cause.
func checkTold(t *testing.T, got *why.Explanation, want, next string) {
	t.Helper()
	if diff := cmp.Diff(want, toldOf(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	checkShape(t, got)
	command := ""
	if failure := got.Failure(); failure != nil {
		command = failure.Next.Command
	}
	if diff := cmp.Diff(next, command); diff != "" {
		t.Errorf("the command (-want +got):\n%s", diff)
	}
}
