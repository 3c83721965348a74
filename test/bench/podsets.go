// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/test/rig"
)

const (
	// benchNamespace is where PodSets, Deployments and pods are.
	benchNamespace = "bench"
	// creators is how many objects are created at a time.
	creators = 16

	// writesOfPodSet is what a PodSet costs until it is Ready: its Deployment, one status and one event.
	writesOfPodSet = 3

	variantPodSets     = "podsets"
	variantDeployments = "deployments"
	// variantApplied are the same Deployments, each applied as Windlass does it instead of created.
	variantApplied = "applied deployments"
)

// podSets measures how long many PodSets take until all of them are ready, against as many Deployments with the same pods.
func podSets(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	n := b.options.PodSets
	s := section{Title: fmt.Sprintf("%d PodSets of one pod created at once, %d at a time, against %d Deployments", n, creators, n)}
	if err := r.addNamespace(ctx); err != nil {
		return s, err
	}
	if err := r.addSimulatedNodes(ctx, n); err != nil {
		return s, err
	}
	p := newSetBench(b, r, &s)
	err := b.interleave(ctx,
		variant{variantDeployments, p.deployments}, variant{variantApplied, p.appliedDeployments}, variant{variantPodSets, p.podSets})
	p.conclude()
	return s, err
}

// setBench is the state of the scenario.
type setBench struct {
	plane *controlPlane
	count int
	out   *section

	took, cost map[string]*series
	perSet     *series
	applied    check
	beyond     check
	last       map[string]writes
	// spent is how long the last variant took.
	spent time.Duration
}

func newSetBench(b *bench, r *controlPlane, s *section) *setBench {
	p := &setBench{
		plane: r, count: b.options.PodSets, out: s, took: map[string]*series{}, cost: map[string]*series{}, last: map[string]writes{},
		applied: check{Name: "writes of Deployments by windlass", Want: b.options.PodSets},
		beyond:  check{Name: "writes by windlass for each PodSet, beyond Deployment, status, event and reports of progress"},
	}
	p.took[variantDeployments] = s.measure("deployments: until all are available", "s")
	p.took[variantApplied] = s.measure("applied deployments: until all are available", "s")
	p.took[variantPodSets] = s.measure("podsets: until all are ready", "s")
	p.perSet = s.measure("podsets: writes by windlass", "per PodSet")
	for _, name := range []string{variantDeployments, variantApplied, variantPodSets} {
		for _, process := range slices.Sorted(maps.Keys(r.pids)) {
			p.cost[name+"/"+process] = s.measure(name+": CPU of "+process, "ms each")
		}
	}
	p.cost[variantPodSets+"/"+agentWindlass] = s.measure("podsets: CPU of windlass", "ms each")
	return p
}

// run sends the objects and waits until all of them are in the state.
func (p *setBench) run(
	ctx context.Context, round int, name string, kind client.Object, ok func(client.Object) bool, send func(ctx context.Context, i int) error,
) error {
	// Watches of this kind alone, and for this round alone: what is watched besides would be paid for by all.
	watching, end := context.WithCancel(ctx)
	defer end()
	watchers, err := p.plane.watchers(watching)
	if err != nil {
		return err
	}
	done, err := rig.Await(ctx, watchers, kind, p.count, ok)
	if err != nil {
		return err
	}
	mark, err := p.plane.audit.mark()
	if err != nil {
		return err
	}
	before, start := readUsage(p.plane.pids), time.Now()
	if err := forEach(ctx, creators, p.count, send); err != nil {
		return fmt.Errorf("cannot create %s: %w", name, err)
	}
	at, err := done.Wait(ctx, patience)
	if err != nil {
		return err
	}
	p.spent = at.Sub(start)
	p.took[name].add(round, p.spent.Seconds())
	for _, agent := range []string{agentWindlass, agentControllers} {
		if err := p.plane.audit.quiet(ctx, agent, silence); err != nil {
			return err
		}
	}
	after := readUsage(p.plane.pids)
	for process := range p.plane.pids {
		p.cost[name+"/"+process].add(round, after.per(before, process, p.count))
	}
	p.last[name], err = p.plane.audit.since(mark)
	return err
}

func (p *setBench) deployments(ctx context.Context, round int) error {
	return p.untilAvailable(ctx, round, variantDeployments, func(ctx context.Context, i int) error {
		return p.plane.Client.Create(ctx, newDeployment(setName(round, i)))
	})
}

// appliedDeployments tells what it costs the API server that Windlass applies its Deployments.
func (p *setBench) appliedDeployments(ctx context.Context, round int) error {
	return p.untilAvailable(ctx, round, variantApplied, func(ctx context.Context, i int) error {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(newDeployment(setName(round, i)))
		if err != nil {
			return fmt.Errorf("cannot convert a Deployment: %w", err)
		}
		wanted := &unstructured.Unstructured{Object: content}
		wanted.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
		unstructured.RemoveNestedField(content, "status")
		return patch.CreateUnstructured(ctx, p.plane.Client, wanted)
	})
}

func (p *setBench) untilAvailable(ctx context.Context, round int, name string, send func(ctx context.Context, i int) error) error {
	err := p.run(ctx, round, name, &appsv1.Deployment{}, func(object client.Object) bool {
		deployment, ok := object.(*appsv1.Deployment)
		return ok && deployment.Status.ObservedGeneration >= deployment.Generation && deployment.Status.AvailableReplicas == 1
	}, send)
	if err != nil {
		return err
	}
	return p.clean(ctx)
}

func (p *setBench) podSets(ctx context.Context, round int) error {
	m, err := p.plane.startManager(ctx)
	if err != nil {
		return err
	}
	err = p.run(ctx, round, variantPodSets, &appsv1alpha1.PodSet{}, func(object client.Object) bool {
		set, ok := object.(*appsv1alpha1.PodSet)
		return ok && set.Status.ObservedGeneration == set.Generation && apimeta.IsStatusConditionTrue(set.Status.Conditions, status.Ready)
	}, func(ctx context.Context, i int) error {
		return p.plane.Client.Create(ctx, newPodSet(setName(round, i), 1))
	})
	if err != nil {
		return err
	}
	wrote := p.last[variantPodSets].sum(by(agentWindlass), besidesLease)
	p.perSet.add(round, float64(wrote)/float64(p.count))
	p.applied.Got = append(p.applied.Got, p.last[variantPodSets].sum(by(agentWindlass), to("deployments")))
	p.beyond.Got = append(p.beyond.Got, beyond(wrote, p.count, writesOfPodSet+progressReports(p.count, p.spent)))
	if err := m.stop(); err != nil {
		return err
	}
	return p.clean(ctx)
}

// clean deletes the objects of the round and all that hangs on them, and waits until nothing is left to do. It does not
// leave that to the garbage collector, which takes its time.
func (p *setBench) clean(ctx context.Context) error {
	kinds := []schema.GroupVersionKind{
		appsv1alpha1.SchemeGroupVersion.WithKind("PodSet"), appsv1.SchemeGroupVersion.WithKind("Deployment"),
		appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), corev1.SchemeGroupVersion.WithKind("Pod"),
	}
	for _, kind := range kinds {
		if err := p.plane.deleteAll(ctx, kind); err != nil {
			return err
		}
	}
	for _, kind := range kinds {
		if err := p.plane.empty(ctx, kind); err != nil {
			return err
		}
	}
	return p.plane.audit.quiet(ctx, agentControllers, silence)
}

// progressReports returns how often each of so many PodSets tells how far it is in that time: together ten times a second, and each at most
// once a second and at least twice a minute (internal/flow).
func progressReports(count int, spent time.Duration) int {
	const together, soonest, latest = 10, time.Second, 30 * time.Second
	return int(spent / min(max(soonest, time.Duration(count)*time.Second/together), latest))
}

// beyond returns how many writes each of the objects costs more than it should, rounded: a write that is repeated after a conflict does not
// show, one more of every second object does.
func beyond(wrote, count, budget int) int {
	return max(0, int(math.Round(float64(wrote)/float64(count)))-budget)
}

func (p *setBench) conclude() {
	p.out.Ratios = append(p.out.Ratios,
		compare("podsets to deployments", p.took[variantPodSets], p.took[variantDeployments], 1.2),
		compare("podsets to applied deployments", p.took[variantPodSets], p.took[variantApplied], 0))
	p.out.Checks = append(p.out.Checks, p.applied, p.beyond)
	for _, name := range []string{variantDeployments, variantApplied, variantPodSets} {
		wrote := p.last[name]
		var parts []string
		for _, agent := range wrote.agents() {
			if count := wrote.sum(by(agent), besidesLease); count > 0 {
				parts = append(parts, fmt.Sprintf("%s %.1f", agent, float64(count)/float64(p.count)))
			}
		}
		p.out.note("writes for each of the %s: %s", name, strings.Join(parts, ", "))
	}
	p.out.note("writes by windlass: %s", p.last[variantPodSets].text(by(agentWindlass)))
}

func (r *controlPlane) addNamespace(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: benchNamespace}}
	if err := client.IgnoreAlreadyExists(r.Client.Create(ctx, namespace)); err != nil {
		return fmt.Errorf("cannot create the namespace: %w", err)
	}
	return nil
}

func setName(round, i int) string { return fmt.Sprintf("set-%02d-%04d", round, i) }

func newPodSet(name string, size int32) *appsv1alpha1.PodSet {
	return &appsv1alpha1.PodSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: benchNamespace, Name: name},
		Spec:       appsv1alpha1.PodSetSpec{Size: size},
		Status:     appsv1alpha1.PodSetStatus{Nodes: []string{}}, // which the schema wants
	}
}

// newDeployment returns the Deployment that Windlass makes for a PodSet of one pod.
func newDeployment(name string) *appsv1.Deployment {
	labels := map[string]string{appsv1alpha1.LabelApp: appsv1alpha1.LabelAppValue, appsv1alpha1.LabelPodSet: name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: benchNamespace, Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: appsv1alpha1.DefaultContainerName, Image: appsv1alpha1.DefaultImage, Command: []string{"sleep", "3600"},
					Ports: []corev1.ContainerPort{{
						Name: appsv1alpha1.DefaultContainerName, ContainerPort: appsv1alpha1.DefaultPort, Protocol: corev1.ProtocolTCP,
					}},
				}}},
			},
		},
	}
}
