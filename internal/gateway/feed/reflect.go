// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/windlass-operator/windlass/internal/kube"
)

// Run fills the stores until the context ends. A kind that the account must not watch, or that is not installed, is retried;
// until then its store is not in step. While the API server is away, every store keeps what it has, and is in step again within moments
// of its return.
// A server that does not answer within silence makes them stale.
func (h *Hub) Run(ctx context.Context, config *rest.Config, silence time.Duration, log logr.Logger) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot create a client for the caches: %w", err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := h.watchPulse(ctx, config, silence); err != nil {
			log.Error(err, "Cannot ask the API server for a sign of life")
		}
	})
	for _, k := range h.Kinds {
		if k.Uncached {
			continue
		}
		resource := client.Resource(k.Resource())
		source := &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				list, err := resource.List(ctx, options)
				k.Store.heard(err)
				return list, err
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				opened, err := resource.Watch(ctx, options)
				if err != nil {
					k.Store.heard(err)
					return nil, err
				}
				return k.Store.attached(opened), nil
			},
		}
		expected := &unstructured.Unstructured{}
		expected.SetGroupVersionKind(k.GVK)
		kindLog := log.WithValues("kind", k.Plural)
		persistent := kube.Persist(cache.ToListWatcherWithWatchListSemantics(source, client))
		reflector := cache.NewReflectorWithOptions(persistent, expected, k.Store,
			cache.ReflectorOptions{Name: "gateway-" + k.Plural, Logger: &kindLog})
		running.Go(func() { reflector.RunWithContext(ctx) })
	}
	running.Wait()
	return nil
}
