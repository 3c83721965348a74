// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
	"github.com/windlass-operator/windlass/internal/why"
)

// TestWhyOfOwners: what owns pods without a Deployment is explained together with one of its own pods, as far as its caller may list them.
func TestWhyOfOwners(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	app := map[string]string{"app": "web"}
	selector := &metav1.LabelSelector{MatchLabels: app}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "nginx"}}},
	}
	once := *template.DeepCopy()
	once.Spec.RestartPolicy = corev1.RestartPolicyNever
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }
	job := &batchv1.Job{ObjectMeta: named("load"), Spec: batchv1.JobSpec{Template: once}}
	r.Create(t,
		&appsv1.ReplicaSet{ObjectMeta: named("web"), Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}},
		&appsv1.StatefulSet{ObjectMeta: named("db"), Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template, ServiceName: "db"}},
		&appsv1.DaemonSet{ObjectMeta: named("agent"), Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}},
		job, &batchv1.Job{ObjectMeta: named("held"), Spec: batchv1.JobSpec{Template: once, Suspend: new(true)}},
	)
	must(t, r.Live.Get(t.Context(), client.ObjectKeyFromObject(job), job))
	for name, gated := range map[string]bool{"load-a": false, "load-b": true} {
		r.Create(t, build.Pod(name).Namespace(ns).With(func(p *corev1.Pod) {
			p.Spec.Containers = []corev1.Container{{Name: "app", Image: "nginx"}}
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
			if gated {
				p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
			}
		}).Obj())
	}
	ended := &corev1.Pod{ObjectMeta: named("load-a")}
	must(t, r.Live.Get(t.Context(), client.ObjectKeyFromObject(ended), ended))
	ended.Status.Phase = corev1.PodFailed
	must(t, r.Live.Status().Update(t.Context(), ended))
	testkit.Eventually(t, "the gateway has both pods of the Job", func() bool {
		item, hasEnded := r.kind(t, "pods").Store.Get(ns, "load-a")
		_, hasGated := r.kind(t, "pods").Store.Get(ns, "load-b")
		return hasEnded && hasGated && item.Fields["status.phase"] == string(corev1.PodFailed)
	})
	admin := r.user(t, "", everything())
	for path, want := range map[string]why.Code{
		"/v1/replicasets/" + ns + "/web/why":  "NotObserved",
		"/v1/statefulsets/" + ns + "/db/why":  "NotObserved",
		"/v1/daemonsets/" + ns + "/agent/why": "NotObserved",
		"/v1/jobs/" + ns + "/held/why":        why.CodeJobSuspended,
		"/v1/jobs/" + ns + "/load/why":        why.CodePodsMissing,
	} {
		got := r.why(t, admin, path)
		if failure := got.Failure(); failure == nil || failure.Code != want {
			t.Errorf("%s is to say %q: %+v", path, want, got)
		}
		if path != "/v1/jobs/"+ns+"/load/why" && got.Because != nil {
			t.Errorf("%s tells of a pod of another owner: %+v", path, got.Because)
		}
	}
	load := r.why(t, admin, "/v1/jobs/"+ns+"/load/why")
	if cause := load.Cause(); cause == nil || cause.Code != why.CodeSchedulingGated {
		t.Errorf("the Job waits for the pod that has not ended: %+v", cause)
	}
	blind := r.user(t, ns, rule("get", "batch", "jobs"))
	got := r.why(t, blind, "/v1/jobs/"+ns+"/load/why")
	if last := got.Checks[len(got.Checks)-1]; got.Because != nil || last.Message != "You may not list pods in namespace "+ns+"." {
		t.Errorf("who may not list pods is told %+v", got)
	}
	if got := r.do(t, http.MethodGet, "/v1/statefulsets/"+ns+"/db/why", blind, ""); got.status != http.StatusForbidden {
		t.Errorf("who may not read StatefulSets gets %d", got.status)
	}
}

// TestWhyBlamesAPodOfSomebodyElse: a pod that migrates data has the labels of the Deployment, and belongs to a Job.
func TestWhyBlamesAPodOfSomebodyElse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	r.deployed(t, ns, "web")
	job := metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "migrate", UID: "migrate", Controller: new(true)}
	set := &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}, Spec: appsv1alpha1.PodSetSpec{
		Size: 1, Template: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "nginx"}}}},
	}}
	r.Create(t, set)
	must(t, r.Live.Get(t.Context(), client.ObjectKeyFromObject(set), set))
	set.Status.Selector = "app=web"
	must(t, r.Live.Status().Update(t.Context(), set))
	gated := func(name string, change func(*corev1.Pod)) {
		r.Create(t, build.Pod(name).Namespace(ns).Label("app", "web").With(func(p *corev1.Pod) {
			p.Spec.Containers = []corev1.Container{{Name: "app", Image: "nginx"}}
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/" + name}}
		}, change).Obj())
		testkit.Eventually(t, "the gateway has the pod", func() bool {
			_, has := r.kind(t, "pods").Store.Get(ns, name)
			return has
		})
	}
	admin := r.user(t, "", everything())
	paths := []string{"/v1/deployments/" + ns + "/web/why", "/v1/podsets/" + ns + "/web/why"}
	gated("migrate-1", func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{job} })
	for _, path := range paths {
		if got := r.why(t, admin, path); got.Failure() == nil || got.Because != nil {
			t.Errorf("%s tells of the pod of a Job: %+v", path, got.Because)
		}
	}
	gated("web-abc-1", ofReplicaSet("web"))
	for _, path := range paths {
		if got := r.why(t, admin, path); got.Because == nil || got.Because.Subject.Name != "web-abc-1" {
			t.Errorf("%s does not tell of its own pod: %+v", path, got.Because)
		}
	}
}
