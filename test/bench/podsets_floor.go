// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
)

// setFloor is a bare loop that sends what Windlass sends for a PodSet: its Deployment, and, once that is available, its status and an event. It
// decides nothing, and looks at nothing but the Deployments.
type setFloor struct {
	written

	client client.Client

	mu   sync.Mutex
	sets map[string]*appsv1alpha1.PodSet // those whose status is not written yet
}

// floor creates the PodSets, and sends for each what Windlass sends.
func (p *setBench) floor(ctx context.Context, round int) error {
	if p.sample == nil {
		return errors.New("cannot run the floor before Windlass: nobody has seen what it writes")
	}
	bare, err := client.New(as(p.plane.account, agentFloor), client.Options{Scheme: p.plane.scheme})
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	f := &setFloor{written: *p.sample, client: bare, sets: map[string]*appsv1alpha1.PodSet{}}
	if err := f.run(ctx, p, round); err != nil {
		return err
	}
	p.alike.Got = append(p.alike.Got, p.last[variantFloor].sum(by(agentFloor)))
	return p.clean(ctx)
}

// run plays a round. A write that fails ends it.
func (f *setFloor) run(ctx context.Context, p *setBench, round int) error {
	ctx, end := context.WithCancelCause(ctx)
	available, err := p.watchDeployments(ctx)
	if err != nil {
		end(nil)
		return err
	}
	var writers sync.WaitGroup
	for range threads {
		writers.Go(func() {
			for {
				select {
				case name := <-available:
					if err := f.tell(ctx, name); err != nil {
						end(err)
					}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	err = p.run(ctx, round, variantFloor, &appsv1alpha1.PodSet{}, isReady, func(ctx context.Context, i int) error {
		return f.create(ctx, p.plane.Client, setName(round, i))
	})
	failed := context.Cause(ctx)
	end(nil)
	writers.Wait()
	return cmp.Or(failed, err)
}

// watchDeployments sends the name of a Deployment each time that it is seen to be available, until the context ends.
func (p *setBench) watchDeployments(ctx context.Context) (<-chan string, error) {
	watchers, err := p.plane.watchers(ctx)
	if err != nil {
		return nil, err
	}
	informer, err := watchers.GetInformer(ctx, &appsv1.Deployment{})
	if err != nil {
		return nil, fmt.Errorf("cannot watch Deployments: %w", err)
	}
	available := make(chan string, p.count)
	see := func(object any) {
		if deployment, ok := object.(*appsv1.Deployment); ok && isAvailable(deployment) {
			select {
			case available <- deployment.Name:
			case <-ctx.Done():
			}
		}
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: see, UpdateFunc: func(_, object any) { see(object) },
	}); err != nil {
		return nil, fmt.Errorf("cannot watch Deployments: %w", err)
	}
	return available, nil
}

// create creates a PodSet as its user does, and its Deployment as Windlass does.
func (f *setFloor) create(ctx context.Context, user client.Client, name string) error {
	set := newPodSet(name, 1)
	if err := user.Create(ctx, set); err != nil {
		return fmt.Errorf("cannot create PodSet %q: %w", name, err)
	}
	f.mu.Lock()
	f.sets[name] = set
	f.mu.Unlock()
	deployment := newDeployment(name)
	deployment.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(set, appsv1alpha1.SchemeGroupVersion.WithKind("PodSet")),
	}
	return applyDeployment(ctx, f.client, deployment)
}

// tell writes the status and the event of a PodSet, unless that is done.
func (f *setFloor) tell(ctx context.Context, name string) error {
	f.mu.Lock()
	before := f.sets[name]
	delete(f.sets, name)
	f.mu.Unlock()
	if before == nil {
		return nil
	}
	after := before.DeepCopy()
	own := strings.ReplaceAll(string(f.status), f.set, name)
	if err := json.Unmarshal([]byte(own), &after.Status); err != nil {
		return fmt.Errorf("cannot decode a status: %w", err)
	}
	if _, err := patch.Status(ctx, f.client, before, after); err != nil {
		return err
	}
	return tellOf(ctx, f.client, after, f.event, f.set)
}
