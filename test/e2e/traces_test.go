// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// traceReceiver is a collector of traces.
type traceReceiver struct {
	collector.UnimplementedTraceServiceServer

	mu    sync.Mutex
	spans map[string]*tracev1.Span // by ID
}

// Export implements collector.TraceServiceServer.
func (r *traceReceiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range request.GetResourceSpans() {
		for _, scope := range of.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.spans[string(span.GetSpanId())] = span
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// has reports whether there is a span of that name below one of the other name.
func (r *traceReceiver) has(name, parent string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, span := range r.spans {
		if span.GetName() == name && r.spans[string(span.GetParentSpanId())].GetName() == parent {
			return true
		}
	}
	return false
}

// receiveTraces starts a collector on the loopback address.
func receiveTraces(t *testing.T) (at *traceReceiver, url string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at = &traceReceiver{spans: map[string]*tracev1.Span{}}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, at)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return at, "http://" + listener.Addr().String()
}

// tracesArrive waits for a pass of the controller of pools, and a phase below it.
func tracesArrive(t *testing.T, at *traceReceiver) {
	t.Helper()
	eventually(t, "the collector has a pass and its phases", func(context.Context) error {
		const pass, phase = "reconcile nodepool", "observe the pool"
		if !at.has(pass, "") || !at.has(phase, pass) {
			at.mu.Lock()
			defer at.mu.Unlock()
			return fmt.Errorf("it has %d spans, and not %q below %q", len(at.spans), phase, pass)
		}
		return nil
	})
}
