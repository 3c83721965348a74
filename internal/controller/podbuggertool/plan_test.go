// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// aTool returns a tool "probe" for the pods with the label app=web.
func aTool(change ...func(*appsv1alpha1.PodBuggerTool)) *appsv1alpha1.PodBuggerTool {
	tool := &appsv1alpha1.PodBuggerTool{
		ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: "shop", UID: "uid-probe"},
		Spec: appsv1alpha1.PodBuggerToolSpec{
			Label: "app=web", Image: "busybox", Command: []string{"sh"}, MaxPods: 50,
		},
	}
	for _, c := range change {
		c(tool)
	}
	return tool
}

func named(name string) func(*appsv1alpha1.PodBuggerTool) {
	return func(t *appsv1alpha1.PodBuggerTool) { t.Name, t.UID = name, types.UID("uid-"+name) }
}

func atMost(n int32) func(*appsv1alpha1.PodBuggerTool) {
	return func(t *appsv1alpha1.PodBuggerTool) { t.Spec.MaxPods = n }
}

// aPod returns a running pod with the label app=web. Pods are older the smaller their number is.
func aPod(number int, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("web-%d", number), Namespace: "shop", UID: types.UID(fmt.Sprintf("uid-web-%d", number)),
			Labels:            map[string]string{"app": "web"},
			CreationTimestamp: metav1.NewTime(time.Unix(int64(1000+number), 0)),
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, c := range change {
		c(pod)
	}
	return pod
}

func pending(pod *corev1.Pod) { pod.Status.Phase = corev1.PodPending }

// with gives the pod the tool.
func with(tool *appsv1alpha1.PodBuggerTool) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, containerOf(tool))
	}
}

func labelled(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels[key] = value }
}

func TestPlan(t *testing.T) {
	t.Parallel()
	probe, tracer := aTool(), aTool(named("tracer"))
	type writes = map[string][]string
	tests := map[string]struct {
		tool   *appsv1alpha1.PodBuggerTool
		pods   []*corev1.Pod
		others []*appsv1alpha1.PodBuggerTool
		// refusing are the pods that have refused the tool.
		refusing []string
		// writes are the tools, by pod, that get installed.
		writes  writes
		awaited []string
		leftOut []string
		refused []string
	}{
		"no pod matches": {
			tool: probe, pods: []*corev1.Pod{aPod(1, labelled("app", "db"))},
		},
		"a running pod gets the tool": {
			tool: probe, pods: []*corev1.Pod{aPod(1)}, writes: writes{"web-1": {"probe"}},
		},
		"a pod that has the tool is left alone": {
			tool: probe, pods: []*corev1.Pod{aPod(1, with(probe))},
		},
		"a pod that does not run is awaited": {
			tool: probe, pods: []*corev1.Pod{aPod(1, pending)}, awaited: []string{"web-1"},
		},
		"labels are told apart by case": {
			tool: probe, pods: []*corev1.Pod{aPod(1, labelled("app", "Web"))},
		},
		"a label without a value is a value": {
			tool: aTool(func(t *appsv1alpha1.PodBuggerTool) { t.Spec.Label = "app=" }),
			pods: []*corev1.Pod{aPod(1), aPod(2, labelled("app", ""))}, writes: writes{"web-2": {"probe"}},
		},
		"a selector selects": {
			tool: aTool(func(t *appsv1alpha1.PodBuggerTool) {
				t.Spec.Label = ""
				t.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: "tier", Operator: metav1.LabelSelectorOpExists},
				}}
			}),
			pods: []*corev1.Pod{aPod(1), aPod(2, labelled("tier", "front"))}, writes: writes{"web-2": {"probe"}},
		},
		"the oldest pods come first": {
			tool: aTool(atMost(2)), pods: []*corev1.Pod{aPod(3), aPod(1), aPod(2)},
			writes: writes{"web-1": {"probe"}, "web-2": {"probe"}}, leftOut: []string{"web-3"},
		},
		"a pod that has the tool keeps its place": {
			tool: aTool(atMost(1)), pods: []*corev1.Pod{aPod(1), aPod(2, with(probe))}, leftOut: []string{"web-1"},
		},
		"more have the tool than may now": {
			tool: aTool(atMost(1)), pods: []*corev1.Pod{aPod(1, with(probe)), aPod(2, with(probe)), aPod(3)},
			leftOut: []string{"web-3"},
		},
		"a pod that runs goes before an older one that does not": {
			tool: aTool(atMost(1)), pods: []*corev1.Pod{aPod(1, pending), aPod(2)},
			writes: writes{"web-2": {"probe"}}, leftOut: []string{"web-1"},
		},
		"only as many are awaited as there are places": {
			tool: aTool(atMost(2)), pods: []*corev1.Pod{aPod(1), aPod(2, pending), aPod(3, pending)},
			writes: writes{"web-1": {"probe"}}, awaited: []string{"web-2"}, leftOut: []string{"web-3"},
		},
		"a pod that refuses the tool leaves its place to the next": {
			tool: aTool(atMost(1)), pods: []*corev1.Pod{aPod(1), aPod(2), aPod(3)}, refusing: []string{"web-1"},
			writes: writes{"web-2": {"probe"}}, leftOut: []string{"web-1", "web-3"},
		},
		"a pod that refuses the tool is told of while there is a place": {
			tool: aTool(atMost(2)), pods: []*corev1.Pod{aPod(1), aPod(2)}, refusing: []string{"web-1"},
			writes: writes{"web-2": {"probe"}}, refused: []string{"web-1"},
		},
		"a pod that does not run is awaited beside one that refuses the tool": {
			tool: aTool(atMost(1)), pods: []*corev1.Pod{aPod(1), aPod(2, pending)}, refusing: []string{"web-1"},
			awaited: []string{"web-2"}, refused: []string{"web-1"},
		},
		"a pod that has the tool has not refused it": {
			tool: aTool(atMost(1)), pods: []*corev1.Pod{aPod(1, with(probe))}, refusing: []string{"web-1"},
		},
		"two tools for one pod come in one write": {
			tool: probe, pods: []*corev1.Pod{aPod(1)}, others: []*appsv1alpha1.PodBuggerTool{tracer},
			writes: writes{"web-1": {"probe", "tracer"}},
		},
		"another tool that the pod has is not written again": {
			tool: probe, pods: []*corev1.Pod{aPod(1, with(tracer))}, others: []*appsv1alpha1.PodBuggerTool{tracer},
			writes: writes{"web-1": {"probe"}},
		},
		"another tool for other pods does not come along": {
			tool: probe, pods: []*corev1.Pod{aPod(1)},
			others: []*appsv1alpha1.PodBuggerTool{aTool(named("tracer"), func(t *appsv1alpha1.PodBuggerTool) { t.Spec.Label = "app=db" })},
			writes: writes{"web-1": {"probe"}},
		},
		"another tool that has no place left does not come along": {
			tool: probe, pods: []*corev1.Pod{aPod(1), aPod(2, with(tracer))},
			others: []*appsv1alpha1.PodBuggerTool{aTool(named("tracer"), atMost(1))},
			writes: writes{"web-1": {"probe"}, "web-2": {"probe"}},
		},
		"a paused tool does not come along": {
			tool: probe, pods: []*corev1.Pod{aPod(1)},
			others: []*appsv1alpha1.PodBuggerTool{aTool(named("tracer"), func(t *appsv1alpha1.PodBuggerTool) {
				t.Annotations = map[string]string{status.PausedAnnotation: "true"}
			})},
			writes: writes{"web-1": {"probe"}},
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			oldestFirst(tt.pods)
			seen := seenWith(tt.pods, tt.others...)
			seen.passedOver = map[types.UID]error{}
			for _, pod := range tt.refusing {
				seen.passedOver[types.UID("uid-"+pod)] = errors.New("no")
			}
			decided, err := plan(tt.tool, seen)
			if err != nil {
				t.Fatal(err)
			}
			got := writes{}
			for _, step := range decided.installs {
				for _, e := range step.entries {
					got[step.pod.Name] = append(got[step.pod.Name], e.tool.Name)
				}
			}
			if diff := cmp.Diff(tt.writes, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.awaited, decided.awaitedNames(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("awaited (-want +got):\n%s", diff)
			}
			var leftOut []string
			for _, pod := range decided.matched {
				if decided.leftOut[pod.Name] {
					leftOut = append(leftOut, pod.Name)
				}
			}
			if diff := cmp.Diff(tt.leftOut, leftOut, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.refused, slices.Sorted(maps.Keys(decided.refused)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanRefusesASelectorThatIsNone(t *testing.T) {
	t.Parallel()
	tool := aTool(func(t *appsv1alpha1.PodBuggerTool) {
		t.Spec.Label = ""
		t.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	})
	if _, err := plan(tool, observation{}); err == nil || !strings.Contains(err.Error(), `cannot read selector of "probe"`) {
		t.Errorf("the error is %v", err)
	}
}

// TestWhateverHappensMaxPodsHolds plays random histories: pods come, start, end and go, and passes of two tools come at any
// moment. No pod ever gets a container twice, no tool has more pods than it may have given away, and the end does not depend on
// which tool's passes came first.
func TestWhateverHappensMaxPodsHolds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		tools := []*appsv1alpha1.PodBuggerTool{
			aTool(atMost(1 + random.Int32N(4))), aTool(named("tracer"), atMost(1+random.Int32N(4))),
		}
		var pods []*corev1.Pod
		for number := range 30 {
			switch random.IntN(4) {
			case 0:
				pods = append(pods, aPod(number, pending))
			case 1:
				if len(pods) > 0 {
					pods[random.IntN(len(pods))].Status.Phase = corev1.PodRunning
				}
			case 2:
				if len(pods) > 0 && random.IntN(3) == 0 {
					pods = slices.Delete(pods, 0, 1)
				}
			case 3:
				apply(t, tools, random.IntN(2), pods)
			}
			holds(t, seed, tools, pods)
		}
		for round := range 4 {
			apply(t, tools, round%2, pods)
		}
		for i := range tools {
			if decided, err := plan(tools[i], seenWith(pods, tools[1-i])); err != nil || len(decided.installs) > 0 {
				t.Fatalf("seed %d: %s does not come to rest: %v, %v", seed, tools[i].Name, decided.installs, err)
			}
		}
	}
}

// seenWith returns an observation of all pods.
func seenWith(pods []*corev1.Pod, tools ...*appsv1alpha1.PodBuggerTool) observation {
	seen := observation{sample: sample{pods: pods}}
	for _, tool := range tools {
		seen.others = append(seen.others, other{tool: tool, pods: pods})
	}
	return seen
}

// apply plays a pass of the tool with that index.
func apply(t *testing.T, tools []*appsv1alpha1.PodBuggerTool, i int, pods []*corev1.Pod) {
	t.Helper()
	oldestFirst(pods)
	decided, err := plan(tools[i], seenWith(pods, tools[1-i]))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range decided.installs {
		if step.pod.Status.Phase != corev1.PodRunning {
			t.Fatalf("pod %s does not run", step.pod.Name)
		}
		step.pod.Spec.EphemeralContainers = append(step.pod.Spec.EphemeralContainers, step.containers()...)
	}
}

// holds checks what has to be true at any moment.
func holds(t *testing.T, seed uint64, tools []*appsv1alpha1.PodBuggerTool, pods []*corev1.Pod) {
	t.Helper()
	perContainer := map[string]int32{}
	for _, pod := range pods {
		seen := map[string]bool{}
		for _, container := range pod.Spec.EphemeralContainers {
			if seen[container.Name] {
				t.Fatalf("seed %d: pod %s has %s twice", seed, pod.Name, container.Name)
			}
			seen[container.Name] = true
			perContainer[container.Name]++
		}
	}
	for _, tool := range tools {
		if got := perContainer[containerOf(tool).Name]; got > tool.Spec.MaxPods {
			t.Fatalf("seed %d: %d pods have %s, which may be in %d", seed, got, tool.Name, tool.Spec.MaxPods)
		}
	}
}

// dnsLabel is what a container may be called.
var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

func TestAContainersNameIsValidForEveryImage(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for _, tool := range []string{"probe", "a.b.c", strings.Repeat("long.", 50) + "x", strings.Repeat("a", 53) + ".b"} {
		for _, image := range []string{
			"busybox", "nginx:1.17.4", "127.0.0.1:5000/team/tools/debug@sha256:" + strings.Repeat("0", 64), "UPPER/case", "ünïcode",
		} {
			container := containerOf(aTool(named(tool), func(t *appsv1alpha1.PodBuggerTool) { t.Spec.Image = image }))
			if !dnsLabel.MatchString(container.Name) {
				t.Errorf("tool %q with image %q gets the name %q", tool, image, container.Name)
			}
			if other, taken := names[container.Name]; taken {
				t.Errorf("%s and %s %s share the name %q", other, tool, image, container.Name)
			}
			names[container.Name] = tool + " " + image
		}
	}
}

func TestAnotherContainerHasAnotherName(t *testing.T) {
	t.Parallel()
	base := containerOf(aTool()).Name
	for sentence, change := range map[string]func(*appsv1alpha1.PodBuggerTool){
		"another image":   func(t *appsv1alpha1.PodBuggerTool) { t.Spec.Image = "alpine" },
		"another command": func(t *appsv1alpha1.PodBuggerTool) { t.Spec.Command = []string{"bash"} },
		"another target":  func(t *appsv1alpha1.PodBuggerTool) { t.Spec.TargetContainer = "app" },
		"another security context": func(t *appsv1alpha1.PodBuggerTool) {
			t.Spec.SecurityContext = &corev1.SecurityContext{RunAsUser: new(int64(1))}
		},
		"another tool": named("tracer"),
	} {
		if got := containerOf(aTool(change)).Name; got == base {
			t.Errorf("%s gets the same name %q", sentence, got)
		}
	}
	for sentence, change := range map[string]func(*appsv1alpha1.PodBuggerTool){
		"another limit":                   atMost(3),
		"another selector":                func(t *appsv1alpha1.PodBuggerTool) { t.Spec.Label = "app=db" },
		"another object of the same name": func(t *appsv1alpha1.PodBuggerTool) { t.UID = "uid-2" },
	} {
		if got := containerOf(aTool(change)).Name; got != base {
			t.Errorf("%s gets another name: %q", sentence, got)
		}
	}
}
