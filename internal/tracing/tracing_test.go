// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package tracing_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-operator/windlass/internal/tracing"
)

// patience is how long a state may take: long, because a machine may be slow.
const patience = 2 * time.Minute

// receiver is a collector of traces on the loopback address.
type receiver struct {
	collector.UnimplementedTraceServiceServer

	address string
	// gate keeps answers back until it is closed; nil for none.
	gate chan struct{}

	mu       sync.Mutex
	spans    []*tracev1.Span
	resource map[string]string
	headers  metadata.MD
}

func receive(t *testing.T, gate chan struct{}, options ...grpc.ServerOption) *receiver {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{address: listener.Addr().String(), gate: gate}
	server := grpc.NewServer(options...)
	collector.RegisterTraceServiceServer(server, r)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return r
}

// Export implements collector.TraceServiceServer.
func (r *receiver) Export(ctx context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	if r.gate != nil {
		select {
		case <-r.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers, _ = metadata.FromIncomingContext(ctx)
	for _, of := range request.GetResourceSpans() {
		r.resource = texts(of.GetResource().GetAttributes())
		for _, scope := range of.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// texts returns attributes as a map.
func texts(attributes []*commonv1.KeyValue) map[string]string {
	out := map[string]string{}
	for _, of := range attributes {
		value := of.GetValue()
		switch value.GetValue().(type) {
		case *commonv1.AnyValue_StringValue:
			out[of.GetKey()] = value.GetStringValue()
		case *commonv1.AnyValue_IntValue:
			out[of.GetKey()] = strconv.FormatInt(value.GetIntValue(), 10)
		default:
			out[of.GetKey()] = fmt.Sprint(value.GetDoubleValue())
		}
	}
	return out
}

// shown is a span as tests compare it.
type shown struct {
	Parent     string
	Kind       tracev1.Span_SpanKind
	Failed     bool
	Attributes map[string]string
}

func (r *receiver) shown() map[string]shown {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]string{}
	for _, span := range r.spans {
		names[string(span.GetSpanId())] = span.GetName()
	}
	out := map[string]shown{}
	for _, span := range r.spans {
		out[span.GetName()] = shown{
			Parent: names[string(span.GetParentSpanId())], Kind: span.GetKind(),
			Failed: span.GetStatus().GetCode() == tracev1.Status_STATUS_CODE_ERROR, Attributes: texts(span.GetAttributes()),
		}
	}
	return out
}

// start sends traces to the receiver until stop is called.
func start(t *testing.T, endpoint string) (stop func(), log func() string) {
	t.Helper()
	var mu sync.Mutex
	var lines []string
	logger := funcr.New(func(_, args string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, args)
	}, funcr.Options{})
	end, err := tracing.Start(t.Context(), endpoint, tracing.Instance{Version: "v1.2.3", Identity: "windlass-0"}, logger)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
			limited, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
			defer cancel()
			if err := end(limited); err != nil {
				t.Error(err)
			}
		}, func() string {
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(lines, "\n")
		}
}

// secret is what no span may have.
const secret = "hunter2-of-the-host"

// work does what controllers do: a pass with a phase that calls a driver, a pass that fails, and the run of a tool.
func work(t *testing.T) {
	t.Helper()
	request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "db"}}
	passes := tracing.Passes("virtualmachine", reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		within, end := tracing.Phase(ctx, "operate the machine")
		_, answered := tracing.Call(within, "rack-1", "create")
		answered("no_capacity")
		end()
		return reconcile.Result{RequeueAfter: 5 * time.Second}, nil
	}))
	if result, err := passes.Reconcile(t.Context(), request); err != nil || result.RequeueAfter != 5*time.Second {
		t.Errorf("the pass ends with %v, %v: a span changes nothing", result, err)
	}
	problem := apierrors.NewConflict(schema.GroupResource{Resource: "nodepools"}, "gold", errors.New(secret))
	failing := tracing.Passes("nodepool", reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, problem
	}))
	if _, err := failing.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "gold"}}); !errors.Is(err, problem) {
		t.Errorf("the pass ends with %v", err)
	}
	run := tracing.Run{
		Cluster: "edge", ID: "run-1", Tool: "rke", Operation: "up", Outcome: "failed", Problem: "HostUnreachable", ExitCode: new(int32(1)),
		StartedAt: time.Unix(1_000, 0), EndedAt: time.Unix(1_090, 0),
	}
	run.Record()
}

func TestSpansReachTheCollector(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20token")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	at := receive(t, nil)
	stop, _ := start(t, "http://"+at.address)
	work(t)
	stop()

	want := map[string]shown{
		"reconcile virtualmachine": {Kind: tracev1.Span_SPAN_KIND_INTERNAL, Attributes: map[string]string{
			"windlass.controller": "virtualmachine", "windlass.object.name": "db", "k8s.namespace.name": "shop", "windlass.requeue_after": "5",
		}},
		"operate the machine": {Parent: "reconcile virtualmachine", Kind: tracev1.Span_SPAN_KIND_INTERNAL, Attributes: map[string]string{}},
		"machine create": {Parent: "operate the machine", Kind: tracev1.Span_SPAN_KIND_CLIENT, Failed: true, Attributes: map[string]string{
			"windlass.machine.host": "rack-1", "windlass.machine.call": "create", "error.type": "no_capacity",
		}},
		"reconcile nodepool": {Kind: tracev1.Span_SPAN_KIND_INTERNAL, Failed: true, Attributes: map[string]string{
			"windlass.controller": "nodepool", "windlass.object.name": "gold", "error.type": "Conflict",
		}},
		"run up": {Kind: tracev1.Span_SPAN_KIND_INTERNAL, Failed: true, Attributes: map[string]string{
			"windlass.cluster.name": "edge", "windlass.run.id": "run-1", "windlass.run.tool": "rke", "windlass.run.operation": "up",
			"windlass.run.outcome": "failed", "process.exit.code": "1", "error.type": "HostUnreachable",
		}},
	}
	if diff := cmp.Diff(want, at.shown()); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	for key, value := range map[string]string{
		"service.name": "windlass", "service.version": "v1.2.3", "service.instance.id": "windlass-0", "deployment.environment.name": "test",
	} {
		if at.resource[key] != value {
			t.Errorf("the resource says %s=%q, want %q", key, at.resource[key], value)
		}
	}
	if got := at.headers.Get("authorization"); !slices.Equal(got, []string{"Bearer token"}) {
		t.Errorf("the headers of OTEL_EXPORTER_OTLP_HEADERS arrive as %q", got)
	}
	for _, span := range at.spans {
		if text := span.String(); strings.Contains(text, secret) {
			t.Errorf("a span has the message of an error: %s", text)
		}
		if took := time.Duration(span.GetEndTimeUnixNano() - span.GetStartTimeUnixNano()); span.GetName() == "run up" && took != 90*time.Second {
			t.Errorf("the run took %s, want 90s", took)
		}
	}
}

// TestTLS sends traces to a collector with a certificate of a CA that the environment names.
func TestTLS(t *testing.T) {
	raw, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(raw, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if block, _ := pem.Decode(raw); block == nil {
		t.Fatal("there is no certificate")
	} else if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", file)
	at := receive(t, nil, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})))
	stop, _ := start(t, "https://"+at.address)
	work(t)
	stop()
	if len(at.shown()) != 5 {
		t.Errorf("the collector has %v", slices.Sorted(maps.Keys(at.shown())))
	}
}

// TestAttackACollectorThatHangs makes passes go on while the collector takes what is sent and never answers: more of them than the queue
// takes, all of which end before the collector has answered once.
func TestAttackACollectorThatHangs(t *testing.T) {
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
	gate := make(chan struct{})
	at := receive(t, gate)
	stop, _ := start(t, "http://"+at.address)
	passes := tracing.Passes("node", reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil }))
	const many = 5_000
	for range many {
		if _, err := passes.Reconcile(t.Context(), reconcile.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(at.spans); got != 0 { // nothing has been answered, so this reads what nobody writes
		t.Errorf("the collector has taken %d spans behind a closed gate", got)
	}
	close(gate)
	stop()
	if got := len(at.spans); got == 0 || got >= many {
		t.Errorf("the collector has %d of %d spans: some are sent, and the queue is bounded", got, many)
	}
}

// TestACollectorThatIsAwayIsToldOnce holds that the log tells of a collector that is away, and not for every batch.
func TestACollectorThatIsAwayIsToldOnce(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	end, log := start(t, "http://"+address)
	work(t)
	end()
	if got := strings.Count(log(), "Cannot send traces"); got != 1 || !strings.Contains(log(), address) {
		t.Errorf("the log says so %d times, want 1:\n%s", got, log())
	}
}
