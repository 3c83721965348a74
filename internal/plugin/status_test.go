// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// ready makes Ready what a controller would make of it.
func ready(value metav1.ConditionStatus, reason, message string) []metav1.Condition {
	return []metav1.Condition{
		{Type: status.Ready, Status: value, Reason: reason, Message: message, ObservedGeneration: 1, LastTransitionTime: metav1.Now()},
		{Type: status.Stalled, Status: metav1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: 1, LastTransitionTime: metav1.Now()},
	}
}

// podSet creates a PodSet whose pool does not exist.
func podSet(t *testing.T, s *stage, namespace, name string) {
	t.Helper()
	set := &appsv1alpha1.PodSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       appsv1alpha1.PodSetSpec{Size: 1, NodePool: "nothing-" + namespace, Template: template()},
	}
	s.Create(t, set)
	testkit.EditStatus(t, s.Harness, set, func(of *appsv1alpha1.PodSet) {
		of.Status.ObservedGeneration, of.Status.Nodes = 1, []string{}
		of.Status.Conditions = ready(metav1.ConditionFalse, appsv1alpha1.ReasonPoolNotFound, "Pool nothing does not exist.")
	})
}

func template() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "example.com/a:1"}}}}
}

func TestStatusShowsTheWorstFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	podSet(t, s, namespace, "web")
	pool := build.Pool(namespace).Obj()
	s.Create(t, pool, build.Node(namespace+"-a").Role(namespace).Ready(corev1.ConditionTrue).Obj(),
		build.Node(namespace+"-b").Role(namespace).Ready(corev1.ConditionFalse).Obj())
	testkit.EditStatus(t, s.Harness, pool, func(of *nodesv1.NodePool) {
		of.Status.ObservedGeneration = 1
		of.Status.Conditions = ready(metav1.ConditionTrue, status.ReasonReady, "All is well.")[:1]
	})

	got := s.run(t, "status")
	if got.code != exitFine {
		t.Fatalf("%+v", got)
	}
	has(t, got.out, "Ready: ", "podset/web", "PoolNotFound", "Pool nothing does not exist.", "x node/"+namespace+"-b")
	if strings.Contains(got.out, "node/"+namespace+"-a ") {
		t.Error("a node that is ready has a row")
	}
	if set, fine := strings.Index(got.out, "podset/web"), strings.Index(got.out, "nodepool/"+namespace); set > fine {
		t.Errorf("the worst is not first:\n%s", got.out)
	}
	if got := s.run(t, "status", "podsets", "-n", namespace, "--exit-code"); got.code != exitNotReady || got.err != "" {
		t.Errorf("--exit-code: %+v", got)
	}
	if got := s.run(t, "status", "podsets", "-n", namespace, "-o", "name"); got.out != "podset.apps.jicki.cn/web\n" {
		t.Errorf("-o name: %+v", got)
	}
	has(t, s.run(t, "status", "podsets", "-n", namespace, "-o", "yaml").out, "state: PoolNotFound")
	for line := range strings.SplitSeq(run(t, options{width: 80, env: map[string]string{"NO_COLOR": "1"}}, "--kubeconfig", s.kubeconfig,
		"status", "podsets", "-n", namespace).out, "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("wider than the terminal: %q", line)
		}
	}

	tree := s.run(t, "status", "nodepool/"+namespace).out
	has(t, tree, "+ nodepool/"+namespace+"  Ready\n", "|- x runtimeclass/"+namespace+"  does not exist\n",
		"|- x node/"+namespace+"-b  NodeNotReady", "`- + node/"+namespace+"-a  Ready")
	tree = s.run(t, "status", "podset/web", "-n", namespace).out
	has(t, tree, "x podset/web  PoolNotFound", "`- x nodepool/nothing-"+namespace+"  does not exist", "\nNext: ")
}

func TestStatusOfAUserOfOneNamespace(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	mine, other := s.Namespace(t), s.Namespace(t)
	podSet(t, s, mine, "mine")
	podSet(t, s, other, "other")
	// The namespace is that of the context, which the user has not chosen with -n.
	config := kubeconfigFor(t, s.Config, mine)
	limited := s.limited(t, mine, "list,get podsets.apps.jicki.cn")[2:]
	got := run(t, options{}, append([]string{"--kubeconfig", config, "status"}, limited...)...)
	if got.code != exitFine || got.err != "" {
		t.Fatalf("%+v", got)
	}
	has(t, got.out, "podset/mine", "Not seen: you may not list nodepools; you may list podsets in namespace "+mine+" only;", "you may not list nodes")
	if strings.Contains(got.out, "podset/other") {
		t.Errorf("an object of another namespace:\n%s", got.out)
	}
	tree := run(t, options{}, append([]string{"--kubeconfig", config, "status", "podset/mine"}, limited...)...)
	has(t, tree.out, "? nodepool/nothing-"+mine+"  you may not get it")
}

// TestExitCodeOfWhatMayNotBeListed: a monitor without rights was told that all is well.
func TestExitCodeOfWhatMayNotBeListed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	some, none := s.Namespace(t), s.Namespace(t)
	s.steps(t, s.limited(t, none),
		step{args: "status --exit-code", code: exitPrevented, err: "cannot tell whether something is not ready: you may not list nodepools; you may not list podsets"},
		step{args: "status podsets --exit-code -o name", code: exitPrevented, err: "you may not list podsets in namespace " + none},
		step{args: "status", out: "Not seen: you may not list nodepools;"},
	)
	s.steps(t, s.limited(t, some, "list podsets.apps.jicki.cn"),
		step{args: "status podsets --exit-code", out: "There is nothing to show."},
		step{args: "status --exit-code", out: "Not seen: you may not list nodepools;"},
		step{args: "status nodepools --exit-code", code: exitPrevented, err: "you may not list nodepools"},
	)
	podSet(t, s, some, "web")
	s.steps(t, []string{"-n", some, "--as", "user-of-" + some}, step{args: "status --exit-code", code: exitNotReady, out: "podset/web"})
}

// TestStatusListsInFewRequests counts what a status asks of the API server.
func TestStatusListsInFewRequests(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var mu sync.Mutex
	requests := map[string]int{}
	far := s.behind(t, func(request *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests[request.Method+" "+request.URL.Path]++
	})
	if got := far.run(t, "status"); got.code != exitFine {
		t.Fatalf("%+v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(requests) != 7 {
		t.Errorf("a status asked for %v", requests)
	}
	for request, count := range requests {
		// One that was sent again counts twice.
		if count > 2 || !strings.HasPrefix(request, http.MethodGet) {
			t.Errorf("%s: %d times", request, count)
		}
	}
}

// liveOutput is what a command that still runs has written.
type liveOutput struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *liveOutput) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *liveOutput) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// watching runs a command that ends with the test, and returns its output.
func (s *stage) watching(t *testing.T, width int, args ...string) *liveOutput {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, ended := &liveOutput{}, make(chan int, 1)
	of := Options{Streams: Streams{In: strings.NewReader(""), Out: out, Err: out}, Now: time.Now, Getenv: func(string) string { return "" }}
	if width > 0 {
		of.Streams.Size = func() (int, int) { return width, defaultHeight }
	}
	go func() { ended <- Execute(ctx, of, append([]string{"--kubeconfig", s.kubeconfig}, args...)) }()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitFine {
			t.Errorf("%v ended with %d: %s", args, code, out)
		}
	})
	return out
}

func TestStatusIsWatched(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	podSet(t, s, namespace, "web")
	pipe := s.watching(t, 0, "status", "podsets", "-n", namespace, "--watch")
	terminal := s.watching(t, 100, "status", "podsets", "-n", namespace, "--watch")
	tree := s.watching(t, 100, "status", "podset/web", "-n", namespace, "--watch")
	await := func(what string, in fmt.Stringer, parts ...string) {
		t.Helper()
		testkit.Eventually(t, what, func() bool {
			for _, part := range parts {
				if !strings.Contains(in.String(), part) {
					return false
				}
			}
			return true
		})
	}
	await("the pipe has the PodSet", pipe, "podset/web -n "+namespace+"  PoolNotFound  Pool nothing does not exist.\n")
	await("the terminal has it", terminal, "\x1b[2J\x1b[H", "PoolNotFound")
	await("the tree has it", tree, "\x1b[2J\x1b[H", "PoolNotFound")

	set := &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	testkit.EditStatus(t, s.Harness, set, func(of *appsv1alpha1.PodSet) {
		of.Status.Conditions = ready(metav1.ConditionTrue, status.ReasonReady, "All is well.")[:1]
	})
	await("the pipe tells that it is ready", pipe, "podset/web -n "+namespace+"  Ready\n")
	await("the terminal shows that it is ready", terminal, "1/1")
	await("the tree shows that it is ready", tree, "podset/web  \x1b[32mReady")
	must(t, s.Live.Delete(t.Context(), set))
	await("the pipe tells that it is gone", pipe, "podset/web -n "+namespace+"  Gone\n")
	await("the tree ends", tree, "podset/web  Gone")
	if strings.Count(terminal.String(), "\x1b[2J") != 1 {
		t.Error("the terminal was cleared more than once")
	}
}

// What nobody has reported on has the time of a default, which is no age.
func TestStatusOfWhatNobodyHasReportedOn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	s.Create(t, &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: appsv1alpha1.PodSetSpec{Size: 1}})
	got := s.run(t, "status", "podsets", "-n", namespace, "-o", "json")
	has(t, got.out, `"state": "NotObserved"`)
	if strings.Contains(got.out, "since") {
		t.Errorf("it tells since when:\n%s", got.out)
	}
}
