// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestWhatWakesAToolUp(t *testing.T) {
	t.Parallel()
	own := containerOf(aTool()).Name
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"a pod starts":           {func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }, true},
		"a pod ends":             {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, true},
		"a pod is being deleted": {func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Unix(1, 0)) }, true},
		"a pod gets a label":     {labelled("tier", "front"), true},
		"a pod gets a container": {with(aTool()), true},
		"a pod's node says something": {
			func(p *corev1.Pod) { p.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: own}} }, true,
		},
		"a pod's heartbeat": {func(p *corev1.Pod) { p.ResourceVersion = "2" }, false},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			before := aPod(1, pending)
			after := before.DeepCopy()
			tt.change(after)
			got := false
			pods := newRoster(func(string) { got = true })
			pods.put(before)
			pods.sample("probe", queryFor(t, aTool()))
			pods.put(after)
			if got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

func TestTheCacheKeepsWhatAToolIsAbout(t *testing.T) {
	t.Parallel()
	pod := aPod(1, with(aTool()))
	pod.Annotations = map[string]string{"big": "annotation"}
	pod.Spec.Containers = []corev1.Container{{Name: "app"}}
	pod.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "x", ImageID: "long"}}
	trimmed, err := trim(pod)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := trimmed.(*corev1.Pod)
	if !ok {
		t.Fatalf("the cache holds a %T", trimmed)
	}
	if got.Annotations != nil || got.Spec.Containers != nil || got.Status.EphemeralContainerStatuses[0].ImageID != "" {
		t.Errorf("the cache keeps too much: %v", got)
	}
	if !carries(got, containerOf(aTool()).Name) || got.Labels["app"] != "web" || got.UID != pod.UID || got.Status.Phase != corev1.PodRunning {
		t.Errorf("the cache keeps too little: %v", got)
	}
}

// TestTheControllerFindsPodsByItself runs it as the manager does. The pods of a namespace are read from its first tool to its last.
func TestTheControllerFindsPodsByItself(t *testing.T) {
	s := newStage(t)
	caches := s.start(t)
	pod := s.pod("web-1")
	tool := aTool()
	tool.Namespace, tool.UID = s.namespace, ""
	s.Create(t, tool)
	own := containerOf(tool).Name
	has := func(pod *corev1.Pod) func() bool {
		return func() bool { return s.Get(t, pod) && carries(pod, own) }
	}
	testkit.Eventually(t, "a pod that exists has the tool", has(pod))
	later := s.pod("web-2")
	testkit.Eventually(t, "a pod that comes later has the tool", has(later))
	testkit.Eventually(t, "the status counts both", func() bool { return s.Get(t, tool) && tool.Status.Installed == 2 })

	if err := s.Live.Delete(t.Context(), tool); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the namespace is no longer read", func() bool {
		caches.mu.Lock()
		defer caches.mu.Unlock()
		return len(caches.open) == 0
	})
	again := aTool(named("again"))
	again.Namespace, again.UID = s.namespace, ""
	s.Create(t, again)
	testkit.Eventually(t, "a tool that comes after the last one finds the pods too", func() bool {
		return s.Get(t, later) && carries(later, containerOf(again).Name)
	})
}

// start runs a manager with the controller until the test ends.
func (s *stage) start(t *testing.T) *PodCaches {
	t.Helper()
	scheme := kube.NewScheme()
	options := kube.CacheOptions(scheme)
	options.DefaultNamespaces = map[string]cache.Config{s.namespace: {}}
	mgr, err := manager.New(s.Config, manager.Options{
		Scheme: scheme, Cache: options, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // -count runs the test again in the same process
		NewClient: func(conf *rest.Config, options client.Options) (client.Client, error) {
			options.Cache.EnableReadYourWritesConsistency = new(true)
			return client.New(conf, options)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	caches := NewPodCaches(s.Config, scheme)
	if err := New(mgr.GetClient(), s.Live, caches, s.Events, s.Clock.Now).SetupWithManager(mgr, caches); err != nil {
		t.Fatal(err)
	}
	testkit.Background(t, mgr.Start)
	return caches
}
