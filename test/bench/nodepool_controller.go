// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/windlass-operator/windlass/internal/kube"
)

// nodeQueue is the queue of a controller.
type nodeQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// bareController is the least that a controller of nodes can do: it watches them, trimmed as the manager does it, and sends each one the patch
// that it was given. It decides nothing, counts nothing and tells nothing.
type bareController struct {
	client client.Client
	// queue is sent once, when the controller starts.
	queue chan nodeQueue

	mu      sync.Mutex
	patches map[string][]byte
}

// Reconcile implements reconcile.Reconciler. The change of a node that has its patch comes here as well.
func (c *bareController) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	node := &corev1.Node{}
	if err := c.client.Get(ctx, request.NamespacedName, node, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	c.mu.Lock()
	raw := c.patches[node.Name]
	delete(c.patches, node.Name)
	c.mu.Unlock()
	if raw == nil {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, patchNode(ctx, c.client, node.Name, raw)
}

// begin gives the controller the patches, and wakes up their nodes.
func (c *bareController) begin(queue nodeQueue, patches map[string][]byte) {
	names := make([]string, 0, len(patches))
	for name := range patches {
		names = append(names, name)
	}
	c.mu.Lock()
	c.patches = patches
	c.mu.Unlock()
	for _, name := range names {
		queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	}
}

// controller sends the patches of the floor from a controller that does nothing else.
func (p *poolBench) controller(ctx context.Context, round int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	bare, run, err := p.newBareController()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Start(ctx) }()
	select {
	case queue := <-bare.queue:
		if !run.GetCache().WaitForCacheSync(ctx) {
			return ctx.Err()
		}
		err = p.send(ctx, round, agentController, func(_ context.Context, patches map[string][]byte) error {
			bare.begin(queue, patches)
			return nil
		})
	case <-ctx.Done():
	}
	cancel()
	if failed := <-ended; err == nil && failed != nil {
		return fmt.Errorf("cannot run the bare controller: %w", failed)
	}
	return err
}

func (p *poolBench) newBareController() (*bareController, ctrlmanager.Manager, error) {
	run, err := ctrlmanager.New(as(p.plane.account, agentController), ctrlmanager.Options{
		Scheme: p.plane.scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Client: kube.ClientOptions(p.plane.scheme),
		NewCache: func(config *rest.Config, own cache.Options) (cache.Cache, error) {
			options := kube.CacheOptions(p.plane.scheme)
			options.HTTPClient, options.Mapper = own.HTTPClient, own.Mapper
			return cache.New(config, options)
		},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a manager: %w", err)
	}
	bare := &bareController{client: run.GetClient(), queue: make(chan nodeQueue, 1)}
	err = builder.ControllerManagedBy(run).Named("bare").For(&corev1.Node{}).
		WatchesRawSource(source.Func(func(_ context.Context, queue nodeQueue) error {
			bare.queue <- queue
			return nil
		})).
		WithOptions(ctrlcontroller.Options{MaxConcurrentReconciles: threads, SkipNameValidation: new(true)}).Complete(bare)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a controller: %w", err)
	}
	return bare, run, nil
}
