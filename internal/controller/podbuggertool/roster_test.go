// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
)

func queryFor(t *testing.T, tool *appsv1alpha1.PodBuggerTool) query {
	t.Helper()
	asked, err := queryOf(tool)
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// Every change of a pod made the manager copy and sort all pods of the namespace, so a user who could create many pods slowed down
// the tools of all others.
func TestAttackManyPodsMakeEachChangeExpensive(t *testing.T) {
	t.Parallel()
	tool := aTool(atMost(3))
	asked := queryFor(t, tool)
	for _, many := range []int{1_000, 30_000} {
		woken := 0
		pods := newRoster(func(string) { woken++ })
		for number := range many {
			pods.put(aPod(number))
		}
		pods.sample(tool.Name, asked)
		looked := 0
		counting := asked
		counting.selector = countingSelector{asked.selector, &looked}
		pods.views[tool.Name].selector = counting.selector
		pods.put(aPod(many/2, pending))
		got := pods.sample(tool.Name, counting)
		if want := 2; looked != want || woken != 1 {
			t.Errorf("of %d pods, the change of one made %d be compared with the selector, and woke the tool %d times, want %d and 1",
				many, looked, woken, want)
		}
		if limit := int(tool.Spec.MaxPods) + appsv1alpha1.MaxPodTools + 1; len(got.pods) > limit || len(got.pods)+got.beyond != many {
			t.Errorf("of %d pods, a pass reads %d and counts %d others: must read at most %d", many, len(got.pods), got.beyond, limit)
		}
	}
}

// countingSelector counts how many pods are compared with it.
type countingSelector struct {
	labels.Selector

	looked *int
}

// Matches implements labels.Selector.
func (c countingSelector) Matches(set labels.Labels) bool {
	*c.looked++
	return c.Selector.Matches(set)
}

// TestASampleDecidesLikeAllPods plays random histories. Whatever happens, a pass over the sample writes and tells the same as a
// pass over all pods.
func TestASampleDecidesLikeAllPods(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		tool, tracer := aTool(atMost(1+random.Int32N(4))), aTool(named("tracer"), atMost(1+random.Int32N(4)))
		cached, pods := map[int]*corev1.Pod{}, newRoster(func(string) {})
		// becomes puts a state of the pod, which keeps its ephemeral containers, as every pod does.
		becomes := func(number int, change ...func(*corev1.Pod)) {
			next := aPod(number)
			if was := cached[number]; was != nil {
				next.Spec.EphemeralContainers = slices.Clone(was.Spec.EphemeralContainers)
			}
			for _, c := range change {
				c(next)
			}
			cached[number] = next
			pods.put(next)
		}
		for step := range 400 {
			number := random.IntN(150)
			was := cached[number]
			switch random.IntN(8) {
			case 0:
				if was != nil {
					delete(cached, number)
					pods.remove(was)
				}
			case 1:
				becomes(number, labelled("app", "db"))
			case 2, 3:
				becomes(number, pending)
			case 4:
				if was != nil && !carries(was, queryFor(t, tracer).container) {
					cached[number] = was.DeepCopy()
					with(tracer)(cached[number])
					pods.wrote(was, cached[number].Spec.EphemeralContainers)
				}
			case 5:
				if was != nil && !carries(was, queryFor(t, tool).container) {
					becomes(number, with(tool))
				}
			default:
				becomes(number)
			}
			if step%10 != 0 {
				continue
			}
			all := make([]*corev1.Pod, 0, len(cached))
			for _, pod := range cached {
				all = append(all, pod)
			}
			oldestFirst(all)
			asked, everything := queryFor(t, tool), seenWith(all, tracer)
			asked.passedOver = map[types.UID]error{}
			for _, pod := range all[:min(len(all), 20)] { // the oldest are asked first, and refuse first
				if random.IntN(3) == 0 {
					asked.passedOver[pod.UID] = errors.New("no")
				}
			}
			everything.passedOver = asked.passedOver
			own, others := pods.sample(tool.Name, asked), pods.sample(tracer.Name, queryFor(t, tracer))
			want := outcomeOf(t, tool, everything)
			got := outcomeOf(t, tool, observation{sample: own, passedOver: asked.passedOver, others: []other{{tool: tracer, pods: others.pods}}})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, step %d: a pass over the sample (-all pods +sample):\n%s", seed, step, diff)
			}
		}
	}
}

// told is what a pass writes, by pod, and what it says.
type told struct {
	Writes map[string][]string
	Status appsv1alpha1.PodBuggerToolStatus
}

func outcomeOf(t *testing.T, tool *appsv1alpha1.PodBuggerTool, seen observation) told {
	t.Helper()
	pass := &scope{Pass: flow.NewPass(tool.DeepCopy(), time.Unix(0, 0)), seen: &seen}
	var err error
	if pass.decision, err = plan(pass.Object, seen); err != nil {
		t.Fatal(err)
	}
	pass.refused = pass.decision.refused
	out := told{Writes: map[string][]string{}}
	for _, step := range pass.decision.installs {
		for _, container := range step.containers() {
			out.Writes[step.pod.Name] = append(out.Writes[step.pod.Name], container.Name)
		}
	}
	pass.Apply(describe(pass, flow.Done()), flow.Done())
	out.Status = pass.Object.Status
	return out
}

func TestWhatWasWrittenCountsUntilThePodSaysSo(t *testing.T) {
	t.Parallel()
	tool := aTool(atMost(1))
	asked, own := queryFor(t, tool), containerOf(tool)
	var woken []string
	pods := newRoster(func(tool string) { woken = append(woken, tool) })
	pods.put(aPod(1))
	pods.put(aPod(2))
	pods.sample(tool.Name, asked)
	pods.wrote(aPod(1), []corev1.EphemeralContainer{own})
	pods.put(aPod(1)) // an event from before the write
	if got := lacking(asked, pods.sample(tool.Name, asked).pods); len(got) > 0 {
		t.Errorf("the place of web-1 is given away again: %d pods get the tool", len(got))
	}
	pods.put(aPod(1, func(pod *corev1.Pod) { // as the cache keeps it
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: own.Name}}}
	}))
	if !slices.Equal(woken, []string{tool.Name}) || len(pods.ahead) > 0 {
		t.Errorf("woke %v, want the tool once; %d writes are remembered, want none", woken, len(pods.ahead))
	}
	again := aPod(1)
	again.UID = types.UID("another")
	pods.put(again)
	if got := lacking(asked, pods.sample(tool.Name, asked).pods); len(got) != 1 || got[0].UID != again.UID {
		t.Errorf("a pod that replaces another one gets no tool: %v", got)
	}
	pods.remove(again)
	pods.wrote(again, []corev1.EphemeralContainer{own})
	if len(pods.ahead) > 0 {
		t.Error("a write to a pod that is gone is remembered")
	}
}
