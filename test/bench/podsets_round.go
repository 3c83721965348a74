// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
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
	// variantFloor is a bare loop of the same writes.
	variantFloor = "floor"
)

// setBench is the state of the scenario.
type setBench struct {
	plane *controlPlane
	count int
	out   *section

	took, cost map[string]*series
	perSet     *series
	applied    check
	beyond     check
	alike      check
	last       map[string]writes
	// spent is how long the last variant took.
	spent time.Duration
	// sample is what Windlass has written for a PodSet, nil before the first round.
	sample *written
}

func newSetBench(b *bench, r *controlPlane, s *section) *setBench {
	p := &setBench{
		plane: r, count: b.options.PodSets, out: s, took: map[string]*series{}, cost: map[string]*series{}, last: map[string]writes{},
		applied: check{Name: "writes of Deployments by windlass", Want: b.options.PodSets},
		beyond:  check{Name: "writes by windlass for each PodSet, beyond Deployment, status, event and reports of progress"},
		alike:   check{Name: "writes by the floor", Want: writesOfPodSet * b.options.PodSets},
	}
	p.took[variantDeployments] = s.measure("deployments: until all are available", "s")
	p.took[variantApplied] = s.measure("applied deployments: until all are available", "s")
	p.took[variantPodSets] = s.measure("podsets: until all are ready", "s")
	p.took[variantFloor] = s.measure("floor: until all are ready", "s")
	p.perSet = s.measure("podsets: writes by windlass", "per PodSet")
	for _, name := range []string{variantDeployments, variantApplied, variantPodSets, variantFloor} {
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

// beyond returns how many writes each of the objects costs more than it should, rounded: a write that is repeated after a conflict does not
// show, one more of every second object does.
func beyond(wrote, count, budget int) int {
	return max(0, int(math.Round(float64(wrote)/float64(count)))-budget)
}

func (r *controlPlane) addNamespace(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: benchNamespace}}
	if err := client.IgnoreAlreadyExists(r.Client.Create(ctx, namespace)); err != nil {
		return fmt.Errorf("cannot create the namespace: %w", err)
	}
	return nil
}

// keepSample remembers what Windlass has written for a PodSet, so that the floor writes as much.
func (p *setBench) keepSample(ctx context.Context, round int) error {
	if p.sample != nil {
		return nil
	}
	set := &appsv1alpha1.PodSet{}
	if err := p.plane.Client.Get(ctx, client.ObjectKey{Namespace: benchNamespace, Name: setName(round, 0)}, set); err != nil {
		return fmt.Errorf("cannot read a PodSet: %w", err)
	}
	told, err := json.Marshal(set.Status)
	if err != nil {
		return fmt.Errorf("cannot encode a status: %w", err)
	}
	event, err := p.plane.eventOf(ctx, set.UID)
	if err != nil {
		return err
	}
	p.sample = &written{set.Name, told, event}
	return nil
}

// applyDeployment sends a Deployment as Windlass does it.
func applyDeployment(ctx context.Context, c client.Client, deployment *appsv1.Deployment) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(deployment)
	if err != nil {
		return fmt.Errorf("cannot convert a Deployment: %w", err)
	}
	wanted := &unstructured.Unstructured{Object: content}
	wanted.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	unstructured.RemoveNestedField(content, "status")
	return patch.CreateUnstructured(ctx, c, wanted)
}

func isAvailable(object client.Object) bool {
	deployment, ok := object.(*appsv1.Deployment)
	return ok && deployment.Status.ObservedGeneration >= deployment.Generation && deployment.Status.AvailableReplicas == 1
}

func isReady(object client.Object) bool {
	set, ok := object.(*appsv1alpha1.PodSet)
	return ok && set.Status.ObservedGeneration == set.Generation && apimeta.IsStatusConditionTrue(set.Status.Conditions, status.Ready)
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
