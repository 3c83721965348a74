// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// feed fills the stores until the context ends. A kind that the gateway may not watch, or that is not installed, is tried
// again and again; until then it is read from the API server.
func (h *hub) feed(ctx context.Context, config *rest.Config, log logr.Logger) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot make a client for the caches: %w", err)
	}
	var running sync.WaitGroup
	for i := range h.kinds {
		k := &h.kinds[i]
		resource := client.Resource(k.resource())
		source := &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return resource.List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return resource.Watch(ctx, options)
			},
		}
		expected := &unstructured.Unstructured{}
		expected.SetGroupVersionKind(k.gvk)
		kindLog := log.WithValues("kind", k.plural)
		reflector := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(source, client), expected, h.stores[i],
			cache.ReflectorOptions{Name: "gateway-" + k.plural, Logger: &kindLog})
		running.Go(func() { reflector.RunWithContext(ctx) })
	}
	running.Wait()
	return nil
}
