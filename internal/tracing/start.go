// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// Instance says who sends the traces.
type Instance struct{ Version, Identity string }

// Start sends the traces of this process to the collector at a URL, over OTLP and gRPC: http is without TLS, https with. Certificates,
// headers, limits and sampling are those of OTEL_EXPORTER_OTLP_…, OTEL_BSP_… and OTEL_TRACES_SAMPLER. It does not wait for the collector.
// The caller calls stop at the end, which sends what is left until its context ends.
func Start(ctx context.Context, endpoint string, of Instance, log logr.Logger) (stop func(context.Context) error, err error) {
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(endpoint))
	if err != nil {
		return nil, fmt.Errorf("cannot send traces to %s: %w", endpoint, err)
	}
	described, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("windlass"), semconv.ServiceVersion(of.Version), semconv.ServiceInstanceID(of.Identity)),
		resource.WithFromEnv(), // which has the last word
	)
	if err != nil {
		return nil, fmt.Errorf("cannot describe this process as OTEL_RESOURCE_ATTRIBUTES says: %w", err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithResource(described),
		sdktrace.WithBatcher(&telling{SpanExporter: exporter, endpoint: endpoint, log: log}),
	)
	otel.SetTracerProvider(provider)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.V(detailed).Info("OpenTelemetry reports a problem", "err", err) }))
	return provider.Shutdown, nil
}

// detailed is the level of what is told again and again.
const detailed = 4

// telling says in the log when the collector goes and comes, once each. A batch that cannot be sent is dropped.
type telling struct {
	sdktrace.SpanExporter

	endpoint string
	log      logr.Logger
	away     atomic.Bool
}

// ExportSpans implements sdktrace.SpanExporter.
func (t *telling) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := t.SpanExporter.ExportSpans(ctx, spans)
	switch was := t.away.Swap(err != nil); {
	case err != nil && !was:
		t.log.Info("Cannot send traces: they are dropped until the collector answers", "endpoint", t.endpoint, "err", err.Error())
	case err == nil && was:
		t.log.Info("The collector of traces answers again", "endpoint", t.endpoint)
	}
	return err
}
