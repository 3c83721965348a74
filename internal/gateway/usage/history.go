// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/api"
	prometheus "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

const (
	// HistoriesAtOnce is how many callers may use Prometheus at the same time.
	HistoriesAtOnce = 8
	// HistoryTimeout bounds the answer to one caller, which takes two queries.
	HistoryTimeout = 10 * time.Second
)

const (
	// maxHistory bounds the answer to one query in bytes: one series of 180 points takes 5 KiB.
	maxHistory = 1 << 20
	// minWindow is what a point of Prometheus is the average of, at least: several scrapes, also where they are two minutes apart.
	minWindow = 5 * time.Minute
	// maxCause bounds what an error of Prometheus takes in the log.
	maxCause = 512
)

// HistoryOptions say which Prometheus knows the past.
type HistoryOptions struct {
	// URL of Prometheus, without the path /api/v1.
	URL string
	// TokenFile has the bearer token, and is read for each query. Default: empty, for none.
	TokenFile string
	// CAFile has the certificates in PEM that the server's is verified with. Default: empty, for those of the system.
	CAFile string
	Log    logr.Logger
}

// History reads from Prometheus what the rings do not have.
type History struct {
	queries prometheus.API
	log     logr.Logger
	failing atomic.Bool
}

// NewHistory returns a History. It does not call Prometheus before the first question.
func NewHistory(options HistoryOptions) (*History, error) {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: HistoriesAtOnce,
	}
	if options.CAFile != "" {
		raw, err := os.ReadFile(options.CAFile)
		if err != nil {
			return nil, fmt.Errorf("cannot read the CA of Prometheus: %w", err)
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("cannot read the CA of Prometheus: %s has no certificate in PEM", options.CAFile)
		}
	}
	client, err := api.NewClient(api.Config{Address: options.URL, Client: &http.Client{
		Transport: bearer{next: transport, tokenFile: options.TokenFile},
		// A redirect would send the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}})
	if err != nil {
		return nil, fmt.Errorf("cannot use the URL of Prometheus: %w", err)
	}
	return &History{queries: prometheus.NewAPI(client), log: options.Log}, nil
}

// OfMachine returns what a VirtualMachine has used, by the metrics of the manager.
func (h *History) OfMachine(ctx context.Context, namespace, name string, in Span) ([]Point, error) {
	average := func(metric string) string {
		return fmt.Sprintf("max(avg_over_time(%s{namespace=%s,name=%s}[%s]))", metric, strconv.Quote(namespace), strconv.Quote(name), in.duration())
	}
	return h.read(ctx, average("windlass_vm_cpu_usage_cores"), average("windlass_vm_memory_working_set_bytes"), in)
}

// OfNode returns what a node has used, by the metrics of the kubelet's cAdvisor, as metrics-server and kubectl top count it. The name
// of the node is in the label "node" or, where Prometheus discovers nodes by itself, in "instance".
func (h *History) OfNode(ctx context.Context, name string, in Span) ([]Point, error) {
	over := func(function, metric string) string {
		by := func(label string) string {
			return fmt.Sprintf("%s(%s{id=\"/\",%s=%s}[%s])", function, metric, label, strconv.Quote(name), in.duration())
		}
		return "max(" + by("node") + " or " + by("instance") + ")"
	}
	return h.read(ctx, over("rate", "container_cpu_usage_seconds_total"), over("avg_over_time", "container_memory_working_set_bytes"), in)
}

// read returns a point for each time at which both queries have a value. The oldest is the first.
func (h *History) read(ctx context.Context, cpu, memory string, in Span) ([]Point, error) {
	asking, cancel := context.WithTimeout(ctx, HistoryTimeout)
	defer cancel()
	points, err := h.ask(asking, cpu, memory, in)
	if ctx.Err() != nil { // the caller has left, or has spent their time before
		return nil, ctx.Err()
	}
	if was := h.failing.Swap(err != nil); was != (err != nil) {
		if err != nil {
			cause := err.Error()
			h.log.Info("Prometheus does not answer", "cause", cause[:min(len(cause), maxCause)])
		} else {
			h.log.Info("Prometheus answers again")
		}
	}
	return points, err
}

func (h *History) ask(ctx context.Context, cpu, memory string, in Span) ([]Point, error) {
	cores, err := h.series(ctx, cpu, in)
	if err != nil {
		return nil, err
	}
	bytes, err := h.series(ctx, memory, in)
	if err != nil {
		return nil, err
	}
	var out []Point
	for at := in.From; !at.After(in.To); at = at.Add(in.Step) {
		busy, measured := cores[at.Unix()]
		used, known := bytes[at.Unix()]
		if measured && known {
			out = append(out, Point{Time: at.UTC(), CPUCores: busy, MemoryBytes: int64(min(used, math.MaxInt64/2)), Objects: 1})
		}
	}
	return out, nil
}

// series returns the values of a query by their time in seconds.
func (h *History) series(ctx context.Context, query string, in Span) (map[int64]float64, error) {
	value, _, err := h.queries.QueryRange(ctx, query, prometheus.Range{Start: in.From, End: in.To, Step: in.Step}, prometheus.WithTimeout(HistoryTimeout))
	if err != nil {
		return nil, fmt.Errorf("cannot query Prometheus: %w", err)
	}
	matrix, ok := value.(model.Matrix)
	if !ok || len(matrix) > 1 {
		return nil, errors.New("cannot query Prometheus: the answer is not one series")
	}
	out := map[int64]float64{}
	for _, stream := range matrix {
		for _, pair := range stream.Values {
			if value := float64(pair.Value); value >= 0 && !math.IsInf(value, 1) {
				out[pair.Timestamp.Unix()] = value
			}
		}
	}
	return out, nil
}

// bearer sends the token along, and bounds answers.
type bearer struct {
	next      http.RoundTripper
	tokenFile string
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	if b.tokenFile != "" {
		token, err := os.ReadFile(b.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("cannot read the token for Prometheus: %w", err)
		}
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	response, err := b.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxHistory), response.Body}
	return response, nil
}
