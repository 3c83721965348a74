// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Publish serves a collector's metrics for as long as the instance leads. A runnable that does not say otherwise waits for the leadership:
// of two managers that count the same objects, one would be counted too many. A scrape has no context, so the collector gets that of the
// leadership.
func Publish(what string, begin func(context.Context) prometheus.Collector) manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error {
		collector := begin(ctx)
		if err := metrics.Registry.Register(collector); err != nil {
			return fmt.Errorf("cannot publish %s as metrics: %w", what, err)
		}
		<-ctx.Done()
		metrics.Registry.Unregister(collector)
		return nil
	})
}
