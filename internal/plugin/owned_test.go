// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// TestOwnersOfPods: what owns pods is shown and explained together with its own pods, and with no pod of another owner.
func TestOwnersOfPods(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	app := map[string]string{"app": "web"}
	selector := &metav1.LabelSelector{MatchLabels: app}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: template().Spec}
	once := *template.DeepCopy()
	once.Spec.RestartPolicy = corev1.RestartPolicyNever
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	cron := &batchv1.CronJob{ObjectMeta: named("nightly"), Spec: batchv1.CronJobSpec{
		Schedule: "0 3 * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: once}},
	}}
	s.Create(t, cron,
		&appsv1.ReplicaSet{ObjectMeta: named("web"), Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}},
		&appsv1.StatefulSet{ObjectMeta: named("db"), Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template, ServiceName: "db"}},
		&appsv1.DaemonSet{ObjectMeta: named("agent"), Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}},
	)
	job := &batchv1.Job{ObjectMeta: named("nightly-1"), Spec: batchv1.JobSpec{Template: once}}
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cron, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	s.Create(t, job)
	for name, gated := range map[string]bool{"ended": false, "waits": true} {
		s.Create(t, build.Pod(name).Namespace(namespace).With(func(p *corev1.Pod) {
			p.Spec, p.Labels = *once.Spec.DeepCopy(), map[string]string{batchv1.ControllerUidLabel: string(job.UID), nodesv1.PoolLabel: "nothing-" + namespace}
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
			if gated {
				p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
			}
		}).Obj())
	}
	ended := &corev1.Pod{ObjectMeta: named("ended")}
	must(t, s.Live.Get(t.Context(), client.ObjectKeyFromObject(ended), ended))
	ended.Status.Phase = corev1.PodFailed
	must(t, s.Live.Status().Update(t.Context(), ended))

	for _, argument := range []string{"rs/web", "sts/db", "ds/agent"} {
		has(t, s.run(t, "why", argument, "-n", namespace, "-v").out, "Code: NotObserved", "\nNext: ")
		has(t, s.run(t, "status", argument, "-n", namespace).out, argument[len(argument)-2:]+"  NotObserved", "\nNext: ")
	}
	chain := []string{"The last Job, nightly-1, makes no progress.", "Because of job nightly-1:", "Because of pod waits:", "example.com/wait"}
	has(t, s.run(t, "why", "cj/nightly", "-n", namespace).out, chain...)
	has(t, s.run(t, "why", "job/nightly-1", "-n", namespace).out, chain[2:]...)
	has(t, s.run(t, "status", "cronjob/nightly", "-n", namespace).out, "+ cronjob/nightly  Ready\n", "`- ~ job/nightly-1  PodsMissing",
		"   |- x pod/ended  Failed", "   `- x pod/waits  SchedulingGated", "\n        Scheduling is blocked")
	has(t, s.run(t, "status", "pod/waits", "-n", namespace).out, "`- x nodepool/nothing-"+namespace+"  does not exist",
		"\n  kubectl windlass why pod/waits -n "+namespace)
	has(t, s.run(t, "status", "jobs", "-n", namespace).out, "Ready: 0/1 jobs", "job/nightly-1")

	rights := s.limited(t, namespace, "get cronjobs.batch", "get replicasets.apps", "get pods")
	has(t, s.run(t, append(rights, "why", "cj/nightly")...).out, "Nothing that could be looked at explains it.")
	has(t, s.run(t, append(rights, "status", "cj/nightly")...).out, "`- ? jobs  you may not list them")
	has(t, s.run(t, append(rights, "status", "rs/web")...).out, "? pods  you may not list them")
	has(t, s.run(t, append(rights, "why", "rs/web", "-o", "yaml")...).out, "You may not list pods in namespace "+namespace)
}

// TestADeploymentHasPodsOfOthers: a pod that migrates data has the labels of the Deployment, and belongs to a Job.
func TestADeploymentHasPodsOfOthers(t *testing.T) {
	t.Parallel()
	named := metav1.ObjectMeta{Name: "web", UID: "web"}
	labels := map[string]string{"app": "web", appsv1.DefaultDeploymentUniqueLabelKey: "abc"}
	for sentence, tt := range map[string]struct {
		kind, controller string
		want             bool
	}{
		"a pod of its ReplicaSet":                    {"ReplicaSet", "web-abc", true},
		"a pod of a Job":                             {"Job", "migrate", false},
		"a pod of a Job with a name like its own":    {"Job", "web-abc", false},
		"a pod of the ReplicaSet of another one":     {"ReplicaSet", "web-admin-abc", false},
		"a pod that somebody has made by themselves": {},
	} {
		pod := build.Pod("pod").With(func(p *corev1.Pod) {
			p.Labels = labels
			if tt.kind != "" {
				p.OwnerReferences = []metav1.OwnerReference{{Kind: tt.kind, Name: tt.controller, UID: "u", Controller: new(true)}}
			}
		}).Obj()
		for _, of := range []client.Object{
			&appsv1.Deployment{ObjectMeta: named, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}},
			&appsv1alpha1.PodSet{ObjectMeta: named, Status: appsv1alpha1.PodSetStatus{Selector: "app=web"}},
		} {
			its, err := podsOf(of)
			must(t, err)
			if its.owns(pod) != tt.want {
				t.Errorf("%s counts as one of %T: %t", sentence, of, !tt.want)
			}
		}
	}
}

// TestKindsOfKubernetes: the API server knows every kind of the table by the names that the table gives it.
func TestKindsOfKubernetes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	for _, k := range kinds() {
		got := s.run(t, "status", k.qualified(), "-n", namespace, "-o", "json")
		if got.code != exitFine {
			t.Errorf("%s: %+v", k.plural, got)
		}
	}
}
