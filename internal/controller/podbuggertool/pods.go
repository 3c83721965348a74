// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-operator/windlass/internal/kube"
)

// errNotRead says that the pods of a namespace have been requested but have not arrived.
var errNotRead = errors.New("not read yet")

// podSource is where a Reconciler reads pods.
type podSource interface {
	// read returns copies of the pods that a pass over the tool needs. It never waits: errNotRead means that the caller has to try again.
	read(ctx context.Context, tool client.ObjectKey, asked query) (sample, error)
	// wrote tells what has just been written to a pod, which no watch may have reported yet.
	wrote(pod *corev1.Pod, containers []corev1.EphemeralContainer)
	// forget drops what is kept for a tool that is gone.
	forget(tool client.ObjectKey)
	// close ends the reading of a namespace that has no tool any more.
	close(namespace string)
}

// PodCaches caches the pods of the namespaces that have tools, and of no others: what a pass reads, and nothing of a cluster that
// debugs nothing. It implements manager.Runnable; its watches run until the manager stops.
type PodCaches struct {
	config *rest.Config
	scheme *runtime.Scheme
	// wakeup queues the tools whose pods have changed.
	wakeup kube.Wakeup

	mu   sync.Mutex
	open map[string]*podCache
	// base is the context of the manager, nil until it has started.
	base context.Context //nolint:containedctx // caches opened by a pass outlive it, and end with the manager
}

// podCache is the cache of one namespace.
type podCache struct {
	*roster

	// synced reports whether the roster has all pods of the first list.
	synced func() bool
	stop   context.CancelFunc
	// failed is why the last list or watch failed.
	failed atomic.Pointer[error]
}

// trouble says why the cache is not filled: it takes time, or the API server returned an error.
func (p *podCache) trouble() error {
	if failed := p.failed.Load(); failed != nil {
		return *failed
	}
	return errNotRead
}

// NewPodCaches returns caches that read with the configuration.
func NewPodCaches(config *rest.Config, scheme *runtime.Scheme) *PodCaches {
	return &PodCaches{config: config, scheme: scheme, open: make(map[string]*podCache)}
}

// Start implements manager.Runnable.
func (p *PodCaches) Start(ctx context.Context) error {
	p.mu.Lock()
	p.base = ctx
	p.mu.Unlock()
	<-ctx.Done()
	return nil
}

// read implements podSource.
func (p *PodCaches) read(ctx context.Context, tool client.ObjectKey, asked query) (sample, error) {
	pods, err := p.of(ctx, tool.Namespace)
	if err != nil {
		return sample{}, err
	}
	if !pods.synced() {
		return sample{}, pods.trouble()
	}
	return pods.sample(tool.Name, asked), nil
}

// wrote implements podSource.
func (p *PodCaches) wrote(pod *corev1.Pod, containers []corev1.EphemeralContainer) {
	if have := p.have(pod.Namespace); have != nil {
		have.wrote(pod, containers)
	}
}

// forget implements podSource.
func (p *PodCaches) forget(tool client.ObjectKey) {
	if have := p.have(tool.Namespace); have != nil {
		have.forget(tool.Name)
	}
}

// have returns the cache of the namespace, nil if it is not open.
func (p *PodCaches) have(namespace string) *podCache {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[namespace]
}

// of returns the cache of the namespace, started and watched.
func (p *PodCaches) of(ctx context.Context, namespace string) (*podCache, error) { //nolint:contextcheck // the cache outlives the pass that opens it
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.open[namespace]; have != nil {
		return have, nil
	}
	if p.base == nil {
		return nil, errNotRead
	}
	opened := &podCache{roster: newRoster(func(tool string) {
		p.wakeup.WakeAfter(client.ObjectKey{Namespace: namespace, Name: tool}, coalesce)
	})}
	made, err := cache.New(p.config, cache.Options{
		Scheme:            p.scheme,
		NewInformer:       kube.NewInformer,
		DefaultNamespaces: map[string]cache.Config{namespace: {}},
		DefaultTransform:  trim,
		DefaultWatchErrorHandler: func(ctx context.Context, reflector *toolscache.Reflector, err error) {
			opened.failed.Store(&err)
			toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot cache the pods of namespace %q: %w", namespace, err)
	}
	if err := opened.follow(ctx, made); err != nil {
		return nil, fmt.Errorf("cannot watch the pods of namespace %q: %w", namespace, err)
	}
	running, stop := context.WithCancel(p.base)
	logger := log.FromContext(ctx)
	go func() {
		if err := made.Start(running); err != nil {
			logger.Error(err, "The cache of a namespace's pods ended", "namespace", namespace)
		}
	}()
	opened.stop = stop
	p.open[namespace] = opened
	return opened, nil
}

// follow keeps the roster as the cache is.
func (p *podCache) follow(ctx context.Context, from cache.Cache) error {
	informer, err := from.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	put := func(object any) {
		if pod, ok := object.(*corev1.Pod); ok {
			p.put(pod)
		}
	}
	registered, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    put,
		UpdateFunc: func(_, is any) { put(is) },
		DeleteFunc: func(object any) {
			if last, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
				object = last.Obj
			}
			if pod, ok := object.(*corev1.Pod); ok {
				p.remove(pod)
			}
		},
	})
	if err != nil {
		return err
	}
	p.synced = registered.HasSynced
	return nil
}

// close implements podSource.
func (p *PodCaches) close(namespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.open[namespace]; have != nil {
		have.stop()
		delete(p.open, namespace)
	}
}

// trim keeps what shows which tools a pod has, and in which state.
func trim(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	kept := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp, Labels: pod.Labels,
		},
		Status: corev1.PodStatus{Phase: pod.Status.Phase},
	}
	for i := range pod.Spec.EphemeralContainers {
		var container corev1.EphemeralContainer
		container.Name = pod.Spec.EphemeralContainers[i].Name
		kept.Spec.EphemeralContainers = append(kept.Spec.EphemeralContainers, container)
	}
	for i := range pod.Status.EphemeralContainerStatuses {
		state := &pod.Status.EphemeralContainerStatuses[i]
		kept.Status.EphemeralContainerStatuses = append(kept.Status.EphemeralContainerStatuses,
			corev1.ContainerStatus{Name: state.Name, State: state.State})
	}
	return kept, nil
}
