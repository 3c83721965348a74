// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The attributes that OpenTelemetry's conventions have no name for.
const (
	controllerKey   = attribute.Key("windlass.controller")
	objectKey       = attribute.Key("windlass.object.name")
	requeueAfterKey = attribute.Key("windlass.requeue_after")
	hostKey         = attribute.Key("windlass.machine.host")
	callKey         = attribute.Key("windlass.machine.call")
	clusterKey      = attribute.Key("windlass.cluster.name")
	operationKey    = attribute.Key("windlass.run.operation")
	outcomeKey      = attribute.Key("windlass.run.outcome")
	toolKey         = attribute.Key("windlass.run.tool")
	runKey          = attribute.Key("windlass.run.id")
)

func tracer() trace.Tracer { return otel.Tracer("github.com/windlass-operator/windlass") }

// Passes returns the reconciler with a span around each pass of that controller.
func Passes(controller string, inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		attributes := []attribute.KeyValue{controllerKey.String(controller), objectKey.String(request.Name)}
		if request.Namespace != "" {
			attributes = append(attributes, semconv.K8SNamespaceName(request.Namespace))
		}
		ctx, span := tracer().Start(ctx, "reconcile "+controller, trace.WithAttributes(attributes...))
		defer span.End()
		result, err := inner.Reconcile(ctx, request)
		if result.RequeueAfter > 0 {
			span.SetAttributes(requeueAfterKey.Float64(result.RequeueAfter.Seconds()))
		}
		if err != nil {
			fail(span, kindOf(err))
		}
		return result, err
	})
}

// Phase begins a span for a phase of a pass. The caller calls end.
func Phase(ctx context.Context, name string) (within context.Context, end func()) {
	within, span := tracer().Start(ctx, name)
	return within, func() { span.End() }
}

// Call begins a span for a call of a host's driver. The caller calls end with the kind of the error, empty for none.
func Call(ctx context.Context, host, call string) (within context.Context, end func(kind string)) {
	within, span := tracer().Start(ctx, "machine "+call, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(hostKey.String(host), callKey.String(call)))
	return within, func(kind string) {
		if kind != "" {
			fail(span, kind)
		}
		span.End()
	}
}

// Run is the run of a provisioning tool that has ended.
type Run struct {
	Cluster, ID, Tool, Operation, Outcome string
	// Problem is the kind of failure; empty if it succeeded.
	Problem  string
	ExitCode *int32
	// StartedAt and EndedAt are when it began and ended: a run can outlive the manager that began it.
	StartedAt, EndedAt time.Time
}

// Record records a run as a trace of its own: many passes follow it, and none of them is its cause.
func (r *Run) Record() {
	attributes := []attribute.KeyValue{
		clusterKey.String(r.Cluster), runKey.String(r.ID), toolKey.String(r.Tool), operationKey.String(r.Operation), outcomeKey.String(r.Outcome),
	}
	if r.ExitCode != nil {
		attributes = append(attributes, semconv.ProcessExitCode(int(*r.ExitCode)))
	}
	root := context.Background() //nolint:forbidigo // because a run belongs to no pass
	_, span := tracer().Start(root, "run "+r.Operation, trace.WithTimestamp(r.StartedAt), trace.WithAttributes(attributes...))
	if r.Problem != "" {
		fail(span, r.Problem)
	}
	span.End(trace.WithTimestamp(r.EndedAt))
}

func fail(span trace.Span, kind string) {
	span.SetStatus(codes.Error, "")
	span.SetAttributes(semconv.ErrorTypeKey.String(kind))
}

// kindOf returns the kind of a pass' error: the reason of the API server, where it is one.
func kindOf(err error) string {
	switch reason := apierrors.ReasonForError(err); {
	case reason != "":
		return string(reason)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return semconv.ErrorTypeOther.Value.AsString()
}
