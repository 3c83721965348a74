// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestWhatWakesAPodSetUp(t *testing.T) {
	t.Parallel()
	pod := func(change func(*corev1.Pod)) event.UpdateEvent {
		before := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: podLabels("web")}}
		after := before.DeepCopy()
		change(after)
		return event.UpdateEvent{ObjectOld: before, ObjectNew: after}
	}
	budget := func(change func(*policyv1.PodDisruptionBudget)) event.UpdateEvent {
		before := aBudget("uid-web")
		after := before.DeepCopy()
		change(after)
		return event.UpdateEvent{ObjectOld: before, ObjectNew: after}
	}
	podSet := func(change func(*appsv1alpha1.PodSet)) event.UpdateEvent {
		return event.UpdateEvent{ObjectOld: aPodSet(), ObjectNew: aPodSet(change)}
	}
	tests := map[string]struct{ got, want bool }{
		"a pod gets its node": {
			podChanged().Update(pod(func(p *corev1.Pod) { p.Spec.NodeName = "n" })), true,
		},
		"a pod is being deleted": {
			podChanged().Update(pod(func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Unix(1, 0)) })), true,
		},
		"a pod has failed": {
			podChanged().Update(pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })), true,
		},
		"a pod is given to another PodSet": {
			podChanged().Update(pod(func(p *corev1.Pod) { p.Labels = podLabels("other") })), true,
		},
		"a pod starts, which the Deployment tells": {
			podChanged().Update(pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })), false,
		},
		"a budget counts pods": {
			budgetChanged().Update(budget(func(b *policyv1.PodDisruptionBudget) { b.Status.CurrentHealthy = 2 })), false,
		},
		"a budget loses its owner": {
			budgetChanged().Update(budget(func(b *policyv1.PodDisruptionBudget) { b.OwnerReferences = nil })), true,
		},
		"a budget is changed": {
			budgetChanged().Update(budget(func(b *policyv1.PodDisruptionBudget) { b.Generation++ })), true,
		},
		"a PodSet is changed": {
			kube.Edited().Update(podSet(func(p *appsv1alpha1.PodSet) { p.Generation++ })), true,
		},
		"a PodSet is paused": {
			kube.Edited().Update(podSet(func(p *appsv1alpha1.PodSet) {
				p.Annotations = map[string]string{status.PausedAnnotation: "true"}
			})), true,
		},
		"a PodSet is replaced under its name while the cache is away": {
			kube.Edited().Update(podSet(func(p *appsv1alpha1.PodSet) { p.UID = "another" })), true,
		},
		"the status of a PodSet is written": {
			kube.Edited().Update(podSet(func(p *appsv1alpha1.PodSet) { p.Status.Replicas = 3 })), false,
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if tt.got != tt.want {
				t.Errorf("got %t, want %t", tt.got, tt.want)
			}
		})
	}
}

// TestEveryWatchReaches runs the controller as the manager does: whatever happens around a PodSet has to reach it without
// anybody asking, also where the label of its pods is not its name.
func TestEveryWatchReaches(t *testing.T) {
	s := newStage(t)
	s.start(t)
	name := strings.Repeat("long-", 13) + "name"
	podSet := aPodSet(func(p *appsv1alpha1.PodSet) { p.Name, p.Namespace, p.UID, p.Generation = name, s.namespace, "", 0 })

	foreign := deploymentOf(t, podSet)
	foreign.OwnerReferences = nil
	s.Create(t, foreign, podSet)
	until := func(what string, holds func() bool) {
		t.Helper()
		testkit.Eventually(t, what, func() bool { return s.Get(t, podSet) && holds() })
	}
	until("the conflict is seen", func() bool {
		return pick(podSet, map[string]string{"Stalled": ""})["Stalled"] ==
			`True NameTaken: Deployment "`+name+`" exists and does not belong to this PodSet`
	})

	if err := s.Live.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	own := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	until("the name is free and taken", func() bool { return s.Get(t, own) && metav1.IsControlledBy(own, podSet) })

	s.rolledOut(name)
	until("the Deployment's status arrives", func() bool { return podSet.Status.AvailableReplicas == 3 })

	for _, pod := range []string{"a", "b", "c"} {
		s.pod(pod, name)
	}
	until("the pods arrive", func() bool { return cmp.Equal([]string{"a", "b", "c"}, podSet.Status.Nodes) })

	testkit.Edit(t, s.Harness, own, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(8)) })
	until("the scaling is reverted", func() bool { return s.Get(t, own) && *own.Spec.Replicas == 3 })
}

// start runs a manager with the controller until the test ends.
func (s *stage) start(t *testing.T) {
	t.Helper()
	scheme := kube.NewScheme()
	options := kube.CacheOptions(scheme)
	options.DefaultNamespaces = map[string]cache.Config{s.namespace: {}}
	mgr, err := manager.New(s.Config, manager.Options{
		Scheme: scheme, Cache: options, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // -count runs the test again in the same process
	})
	if err != nil {
		t.Fatal(err)
	}
	consistent := kube.ClientOptions(scheme)
	consistent.Cache.Reader = mgr.GetCache()
	c, err := client.New(s.Config, consistent)
	if err != nil {
		t.Fatal(err)
	}
	if err := kube.IndexNodes(membership.Concerned)(t.Context(), mgr.GetFieldIndexer()); err != nil {
		t.Fatal(err)
	}
	if err := New(c, s.Live, s.Events, s.Clock.Now, "").SetupWithManager(t.Context(), mgr, 2); err != nil {
		t.Fatal(err)
	}
	testkit.Background(t, mgr.Start)
}

func TestChangesOfChildrenWaitForOthersToComeAlong(t *testing.T) {
	t.Parallel()
	request := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: name}}
	}
	mapped := soon(func(_ context.Context, pod client.Object) []reconcile.Request {
		return []reconcile.Request{request(pod.GetLabels()[appsv1alpha1.LabelPodSet])}
	})
	was := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: podLabels("web")}}
	is := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: podLabels("other")}}
	web, both := map[string]time.Duration{"web": underway}, map[string]time.Duration{"web": underway, "other": underway}
	rollout := func(available int32) *appsv1.Deployment {
		return &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Generation: 1, Labels: podLabels("web")},
			Spec:       appsv1.DeploymentSpec{Replicas: new(int32(2))},
			Status: appsv1.DeploymentStatus{
				ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: available,
			},
		}
	}
	changed := rollout(2)
	changed.Generation = 2
	tests := map[string]struct {
		happens func(*delays)
		want    map[string]time.Duration
	}{
		"a pod is created": {
			func(q *delays) { mapped.Create(t.Context(), event.CreateEvent{Object: was}, q) }, web,
		},
		"a pod is deleted": {
			func(q *delays) { mapped.Delete(t.Context(), event.DeleteEvent{Object: was}, q) }, web,
		},
		"a pod moves, which concerns both": {
			func(q *delays) { mapped.Update(t.Context(), event.UpdateEvent{ObjectOld: was, ObjectNew: is}, q) }, both,
		},
		"a rollout takes a step, which waits for the next": {
			func(q *delays) {
				mapped.Update(t.Context(), event.UpdateEvent{ObjectOld: rollout(0), ObjectNew: rollout(1)}, q)
			}, map[string]time.Duration{"web": underway},
		},
		"a rollout is complete, which is awaited": {
			func(q *delays) {
				mapped.Update(t.Context(), event.UpdateEvent{ObjectOld: rollout(1), ObjectNew: rollout(2)}, q)
			}, map[string]time.Duration{"web": coalesce},
		},
		"somebody changes the Deployment, which is changed back": {
			func(q *delays) {
				mapped.Update(t.Context(), event.UpdateEvent{ObjectOld: rollout(2), ObjectNew: changed}, q)
			}, map[string]time.Duration{"web": coalesce},
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			q := &delays{added: map[string]time.Duration{}}
			tt.happens(q)
			if diff := cmp.Diff(tt.want, q.added); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// delays is a queue that notes what is added to it after which delay. Anything else would panic.
type delays struct {
	queue

	added map[string]time.Duration
}

// AddAfter implements queue.
func (d *delays) AddAfter(request reconcile.Request, after time.Duration) {
	d.added[request.Name] = after
}
