// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// outcome is what a test compares of a step.
type outcome struct {
	Pool     string
	Evict    []string
	Progress clearance.Progress
}

func outcomes(steps []step) []outcome {
	var list []outcome
	for _, s := range steps {
		o := outcome{Pool: s.pool.Name, Progress: s.progress}
		for _, pod := range s.evict {
			o.Evict = append(o.Evict, pod.Name)
		}
		list = append(list, o)
	}
	return list
}

func pod(name string, changes ...func(*corev1.Pod)) corev1.Pod {
	return *build.Pod(name).Namespace("").UID(types.UID(name)).With(changes...).Obj()
}

func byClass(pool string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.RuntimeClassName = &pool }
}

func byLabel(pool string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels = map[string]string{nodesv1.PoolLabel: pool}
		p.Spec.NodeSelector = map[string]string{nodesv1.MemberLabel(pool): ""}
	}
}

func going(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(now)) }

func ended(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }

func ofDaemonSet(p *corev1.Pod) {
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "d", Controller: new(true)}}
}

func mirror(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }

// draining returns a pool that has been draining the node "n" for that long.
func draining(name string, timeout *int32, ago time.Duration, blocked ...string) *nodesv1.NodePool {
	return build.Pool(name).With(func(p *nodesv1.NodePool) {
		p.Spec.Drain = &nodesv1.Drain{Policy: nodesv1.DrainEvict, TimeoutSeconds: timeout}
		p.Status.Draining = []nodesv1.DrainingNode{{Node: "n", UID: "n-uid", StartTime: metav1.NewTime(now.Add(-ago)), Blocked: blocked}}
	}).Obj()
}

func TestPlan(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		pools []*nodesv1.NodePool
		pods  []corev1.Pod
		class *nodev1.RuntimeClass
		// unasked is true where this process has not asked for the pods yet.
		unasked bool
		want    []outcome
	}{
		// They were evicted, as often as the node of a pool left that could not have the RuntimeClass of its name.
		"pods with the RuntimeClass of somebody else did not choose the pool": {
			pools: []*nodesv1.NodePool{draining("p", nil, 0)},
			pods:  []corev1.Pod{pod("a", byClass("p")), pod("b", byLabel("p"))},
			class: &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Handler: "nvidia"},
			want:  []outcome{{Pool: "p", Evict: []string{"b"}, Progress: clearance.Progress{PodsLeft: 1}}},
		},
		"nor do they keep a drain whose time is over from its end": {
			pools:   []*nodesv1.NodePool{draining("p", new(int32(30)), time.Hour)},
			pods:    []corev1.Pod{pod("a", byClass("p"))},
			class:   &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Handler: "nvidia"},
			unasked: true,
			want:    []outcome{{Pool: "p", Progress: clearance.Progress{Done: true}}},
		},
		"pods that chose the pool are evicted, by class and by label": {
			pools: []*nodesv1.NodePool{draining("p", nil, 0)},
			pods:  []corev1.Pod{pod("b", byClass("p")), pod("a", byLabel("p")), pod("c"), pod("d", byClass("q"))},
			want:  []outcome{{Pool: "p", Evict: []string{"a", "b"}, Progress: clearance.Progress{PodsLeft: 2}}},
		},
		"pods that would be started again stay": {
			pools: []*nodesv1.NodePool{draining("p", nil, 0)},
			pods:  []corev1.Pod{pod("a", byClass("p"), ofDaemonSet), pod("b", byClass("p"), mirror)},
			want:  []outcome{{Pool: "p", Progress: clearance.Progress{Done: true}}},
		},
		"a pod that is about to go is waited for and not asked again": {
			pools: []*nodesv1.NodePool{draining("p", nil, 0)},
			pods:  []corev1.Pod{pod("a", byClass("p"), going)},
			want:  []outcome{{Pool: "p", Progress: clearance.Progress{PodsLeft: 1}}},
		},
		"pods that have ended are the end": {
			pools: []*nodesv1.NodePool{draining("p", nil, 0)},
			pods:  []corev1.Pod{pod("a", byClass("p"), ended)},
			want:  []outcome{{Pool: "p", Progress: clearance.Progress{Done: true}}},
		},
		"a pod that was refused is asked for last": {
			pools: []*nodesv1.NodePool{draining("p", nil, 0, "/a")},
			pods:  []corev1.Pod{pod("a", byClass("p")), pod("b", byClass("p"))},
			want:  []outcome{{Pool: "p", Evict: []string{"b", "a"}, Progress: clearance.Progress{PodsLeft: 2}}},
		},
		"when the time is over nothing is evicted any more": {
			pools: []*nodesv1.NodePool{draining("p", new(int32(30)), 30*time.Second)},
			pods:  []corev1.Pod{pod("a", byClass("p"))},
			want:  []outcome{{Pool: "p", Progress: clearance.Progress{PodsLeft: 1, Done: true, TimedOut: true}}},
		},
		"a time that passed before anybody could ask is not over": {
			pools:   []*nodesv1.NodePool{draining("p", new(int32(30)), time.Hour)},
			pods:    []corev1.Pod{pod("a", byClass("p"))},
			unasked: true,
			want:    []outcome{{Pool: "p", Evict: []string{"a"}, Progress: clearance.Progress{PodsLeft: 1}}},
		},
		"before that it goes on": {
			pools: []*nodesv1.NodePool{draining("p", new(int32(30)), 29*time.Second)},
			pods:  []corev1.Pod{pod("a", byClass("p"))},
			want:  []outcome{{Pool: "p", Evict: []string{"a"}, Progress: clearance.Progress{PodsLeft: 1}}},
		},
		"the default timeout is ten minutes": {
			pools: []*nodesv1.NodePool{draining("p", nil, 10*time.Minute), draining("q", nil, 10*time.Minute-time.Second)},
			pods:  []corev1.Pod{pod("a", byClass("p")), pod("b", byClass("q"))},
			want: []outcome{
				{Pool: "p", Progress: clearance.Progress{PodsLeft: 1, Done: true, TimedOut: true}},
				{Pool: "q", Evict: []string{"b"}, Progress: clearance.Progress{PodsLeft: 1}},
			},
		},
		"a timeout of 0 waits for ever": {
			pools: []*nodesv1.NodePool{draining("p", new(int32(0)), 1000*time.Hour)},
			pods:  []corev1.Pod{pod("a", byClass("p"))},
			want:  []outcome{{Pool: "p", Evict: []string{"a"}, Progress: clearance.Progress{PodsLeft: 1}}},
		},
		"a node without pods is done at once": {
			pools: []*nodesv1.NodePool{draining("p", nil, time.Hour)},
			want:  []outcome{{Pool: "p", Progress: clearance.Progress{Done: true}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := observation{drains: due(build.Node("n").UID("n-uid").Obj(), list(tc.pools...)), pods: tc.pods}
			for i := range seen.drains {
				seen.drains[i].class = tc.class
			}
			if tc.unasked {
				(&requests{}).keep("n", seen.drains, seen.pods)
			}
			if diff := cmp.Diff(tc.want, outcomes(plan(seen, now)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("steps differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	node := build.Node("n").UID("n-uid")
	with := func(change func(*nodesv1.NodePool)) *nodesv1.NodePool {
		pool := draining("p", nil, 0)
		change(pool)
		return pool
	}
	cases := map[string]struct {
		node *corev1.Node
		pool *nodesv1.NodePool
		want bool
	}{
		"a node that left and lost the membership":        {pool: with(func(*nodesv1.NodePool) {}), want: true},
		"not while new pods of the pool would still come": {node: build.Node("n").UID("n-uid").Label(nodesv1.MemberLabel("p"), "").Obj(), pool: with(func(*nodesv1.NodePool) {})},
		"not a node that came back":                       {node: build.Node("n").UID("n-uid").Role("p").Obj(), pool: with(func(*nodesv1.NodePool) {})},
		"not another node of that name":                   {node: build.Node("n").UID("other").Obj(), pool: with(func(*nodesv1.NodePool) {})},
		"not one that is drained":                         {pool: with(func(p *nodesv1.NodePool) { p.Status.Draining[0].Drained = true })},
		"not where the pool drains no longer":             {pool: with(func(p *nodesv1.NodePool) { p.Spec.Drain.Policy = nodesv1.DrainNone })},
		"not while the pool is paused":                    {pool: build.Pool("p").Paused().With(func(p *nodesv1.NodePool) { *p = *merge(p, draining("p", nil, 0)) }).Obj()},
		"not in dry run":                                  {pool: with(func(p *nodesv1.NodePool) { p.Spec.DryRun = true })},
		"not while nobody can tell who is a member": {pool: with(func(p *nodesv1.NodePool) {
			p.Spec.NodeSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}
		})},
		"a member of a pool that is being deleted": {
			node: build.Node("n").UID("n-uid").Role("p").Obj(), pool: with(func(p *nodesv1.NodePool) { p.DeletionTimestamp = new(metav1.NewTime(now)) }), want: true,
		},
		"not where somebody forces the deletion": {pool: with(func(p *nodesv1.NodePool) {
			p.DeletionTimestamp = new(metav1.NewTime(now))
			p.Annotations = map[string]string{nodesv1.ForceDeleteAnnotation: "true"}
		})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.node == nil {
				tc.node = node.Obj()
			}
			if got := len(due(tc.node, list(tc.pool))) == 1; got != tc.want {
				t.Errorf("due is %t", got)
			}
		})
	}
}

// merge returns the drained pool with the annotations of the other one.
func merge(annotated, drained *nodesv1.NodePool) *nodesv1.NodePool {
	drained.Annotations = annotated.Annotations
	return drained
}

func list(pools ...*nodesv1.NodePool) *nodesv1.NodePoolList {
	all := &nodesv1.NodePoolList{}
	for _, pool := range pools {
		all.Items = append(all.Items, *pool)
	}
	return all
}

// TestPlanProperties holds random pods against what must be true of every plan.
func TestPlanProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 0))
		timeout := int32(random.IntN(3) * 30)
		pool := draining("p", &timeout, time.Duration(random.IntN(90))*time.Second)
		var pods []corev1.Pod
		running := 0
		for i := range random.IntN(25) {
			one := pod(fmt.Sprintf("pod-%02d", i))
			for _, change := range []func(*corev1.Pod){byClass("p"), byLabel("p"), going, ended, ofDaemonSet, mirror} {
				if random.IntN(3) == 0 {
					change(&one)
				}
			}
			if random.IntN(3) == 0 {
				pool.Status.Draining[0].Blocked = append(pool.Status.Draining[0].Blocked, podName(&one))
			}
			pods = append(pods, one)
		}
		seen := observation{drains: due(build.Node("n").UID("n-uid").Obj(), list(pool)), pods: pods}
		asked := random.IntN(4) > 0
		if !asked {
			(&requests{}).keep("n", seen.drains, seen.pods)
		}
		step := plan(seen, now)[0]
		for _, p := range step.evict {
			switch {
			case p.DeletionTimestamp != nil, p.Status.Phase == corev1.PodSucceeded, stays(p):
				t.Fatalf("seed %d: pod %s must not be evicted", seed, p.Name)
			case p.Spec.RuntimeClassName == nil && p.Labels[nodesv1.PoolLabel] != "p":
				t.Fatalf("seed %d: pod %s did not choose the pool", seed, p.Name)
			}
		}
		for i := range pods {
			if left := step.podsToEnd(pods[i : i+1]); len(left) == 1 && left[0].DeletionTimestamp == nil {
				running++
			}
		}
		switch evicted := len(step.evict); {
		case step.progress.Done && evicted > 0:
			t.Fatalf("seed %d: a drain that is done evicts %d pods", seed, evicted)
		case step.progress.TimedOut && !asked && running > 0:
			t.Fatalf("seed %d: the drain ends and nobody was asked for", seed)
		case step.progress.Done && step.progress.PodsLeft > 0 && !step.progress.TimedOut:
			t.Fatalf("seed %d: the drain ends with %d pods before its time", seed, step.progress.PodsLeft)
		case !step.progress.Done && evicted != min(running, maxEvictions):
			t.Fatalf("seed %d: %d of %d pods are evicted", seed, evicted, running)
		}
		before := outcomes(plan(seen, now))
		slices.Reverse(seen.pods)
		if diff := cmp.Diff(before, outcomes(plan(seen, now))); diff != "" {
			t.Fatalf("seed %d: the plan depends on the order of the pods (-want +got):\n%s", seed, diff)
		}
	}
}

// TestRefusedPodsStarveOthers drains nodes with more pods than a pass asks for, some of which stay whatever is asked.
func TestRefusedPodsStarveOthers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		count, share := 1+random.IntN(60), random.IntN(5)
		left, asked, stay := []corev1.Pod{}, map[string]bool{}, map[string]bool{}
		for i := range count {
			one := pod(fmt.Sprintf("pod-%02d", i), byClass("p"))
			left = append(left, one)
			// Those of one application often come first by name, and have one budget.
			stay[podName(&one)] = seed%2 == 0 && i < 20 || random.IntN(5) < share
		}
		var blocked []string
		for pass := range 2 + count/maxEvictions {
			pool := draining("p", new(int32(0)), time.Duration(pass)*recheckPods, blocked...)
			blocked = nil
			step := plan(observation{drains: due(build.Node("n").UID("n-uid").Obj(), list(pool)), pods: left}, now)[0]
			for _, p := range step.evict {
				asked[podName(p)] = true
				if stay[podName(p)] {
					blocked = append(blocked, podName(p))
				}
			}
			if len(blocked) == 0 {
				blocked = step.blocked
			}
			left = slices.DeleteFunc(left, func(p corev1.Pod) bool { return asked[podName(&p)] && !stay[podName(&p)] })
			slices.Sort(blocked)
		}
		if len(asked) < count {
			t.Fatalf("seed %d: %d of %d pods were never asked for", seed, count-len(asked), count)
		}
	}
}

// TestAnOverdueDrainAsksForEveryPodOnce: after a restart, a drain whose time had passed asked for as many pods as a pass asks for, and ended.
func TestAnOverdueDrainAsksForEveryPodOnce(t *testing.T) {
	t.Parallel()
	r, asked, pods := &Reconciler{recorder: silent{}, drains: &clearance.Drains{}}, map[string]int{}, []corev1.Pod{}
	r.evict = func(_ context.Context, pod *corev1.Pod) error {
		asked[pod.Name]++
		return apierrors.NewTooManyRequests("a disruption budget says no", 0)
	}
	for i := range 25 {
		pods = append(pods, pod(fmt.Sprintf("pod-%02d", i), byClass("p")))
	}
	passes := 0
	for done := false; !done && passes < 10; passes++ {
		pods = append(pods, pod(fmt.Sprintf("late-%02d", passes), byClass("p")))
		if passes == 0 {
			pods = pods[:25]
		}
		seen := observation{drains: due(build.Node("n").UID("n-uid").Obj(), list(draining("p", new(int32(30)), time.Hour))), pods: pods}
		r.requests.keep("n", seen.drains, seen.pods)
		next := plan(seen, now)[0]
		if err := r.act(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		if done = next.progress.Done; done && !next.progress.TimedOut {
			t.Error("the drain ends before its time")
		}
	}
	if len(asked) != 25 || passes != 4 {
		t.Errorf("%d pods are asked for in %d passes, want 25 in 3 and one that ends the drain: %v", len(asked), passes, asked)
	}
	for name, times := range asked {
		if times != 1 {
			t.Errorf("%s is asked for %d times", name, times)
		}
	}
}

// A drain that was overdue counted a pod as asked for although no request had reached the API server, and let the node go with its pods.
func TestAnOverdueDrainWaitsForAnAPIServerThatIsAway(t *testing.T) {
	t.Parallel()
	due := due(build.Node("n").UID("n-uid").Obj(), list(draining("p", new(int32(30)), time.Hour)))
	pods := []corev1.Pod{pod("a", byClass("p"))}
	away := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	answer := error(away)
	r := &Reconciler{drains: &clearance.Drains{}, recorder: silent{}, evict: func(context.Context, *corev1.Pod) error { return answer }}
	pass := func() (progress clearance.Progress, err error) {
		r.requests.keep("n", due, pods)
		err = r.act(t.Context(), plan(observation{drains: due, pods: pods}, now)[0])
		progress, _ = r.drains.Progress(due[0].key())
		return progress, err
	}
	for range 2 {
		if progress, err := pass(); progress.Done || !errors.Is(err, away) {
			t.Errorf("the progress is %+v, the error is %v, want %v", progress, err, away)
		}
	}
	answer = apierrors.NewTooManyRequests("a disruption budget says no", 0)
	if progress, err := pass(); progress.Done || err != nil {
		t.Errorf("with the answer, the progress is %+v, the error is %v", progress, err)
	}
	if progress, err := pass(); !progress.TimedOut || err != nil {
		t.Errorf("after the answer, the progress is %+v, the error is %v", progress, err)
	}
}

func TestADrainThatRestsIsForgotten(t *testing.T) {
	t.Parallel()
	r := &requests{}
	drains := func() []drain { return due(build.Node("n").UID("n-uid").Obj(), list(draining("p", nil, 0))) }
	first := drains()
	r.keep("n", first, []corev1.Pod{pod("a", byClass("p"))})
	first[0].asked["a"] = true
	again := drains()
	r.keep("n", again, []corev1.Pod{pod("a", byClass("p")), pod("b", byClass("p"))})
	if diff := cmp.Diff(map[types.UID]bool{"a": true}, again[0].asked); diff != "" {
		t.Errorf("a drain that goes on (-want +got):\n%s", diff)
	}
	r.keep("n", nil, nil)
	if len(r.of) != 0 {
		t.Errorf("what is remembered of no drain is %v", r.of)
	}
	later := drains()
	r.keep("n", later, []corev1.Pod{pod("a", byClass("p"))})
	if diff := cmp.Diff(map[types.UID]bool{"a": false}, later[0].asked); diff != "" {
		t.Errorf("a drain that rested (-want +got):\n%s", diff)
	}
}
