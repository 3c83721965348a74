// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/fence"
)

// answering answers every request with a status, or with an error where that is 0.
type answering int

// RoundTrip implements http.RoundTripper.
func (a answering) RoundTrip(request *http.Request) (*http.Response, error) {
	if a == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: int(a), Body: http.NoBody, Request: request}, nil
}

// counts returns the series of a counter by their labels' values, in the order of the labels' names.
func counts(t *testing.T) map[[5]string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(apiWrites)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[[5]string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var values [5]string
			for i, label := range metric.GetLabel() { // code, group, resource, subresource, verb
				values[i] = label.GetValue()
			}
			out[values] = metric.GetCounter().GetValue()
		}
	}
	return out
}

func TestWritesAreCounted(t *testing.T) { //nolint:paralleltest // because the counter is one per process
	for name, test := range map[string]struct { //nolint:paralleltest // because the counter is one per process
		method, path, contentType string
		status                    answering
		want                      map[[5]string]float64
	}{
		"a create": {
			http.MethodPost, "/api/v1/namespaces/a/secrets", "", http.StatusCreated,
			map[[5]string]float64{{"201", "", "secrets", "", "create"}: 1},
		},
		"a patch of a status that comes too late": {
			http.MethodPatch, "/apis/nodes.lailin.xyz/v1/nodepools/gold/status", "application/merge-patch+json", http.StatusConflict,
			map[[5]string]float64{{"409", "nodes.lailin.xyz", "nodepools", "status", "patch"}: 1},
		},
		"an apply": {
			http.MethodPatch, "/apis/apps/v1/namespaces/a/deployments/b", "application/apply-patch+yaml", http.StatusOK,
			map[[5]string]float64{{"200", "apps", "deployments", "", "apply"}: 1},
		},
		"an eviction": {
			http.MethodPost, "/api/v1/namespaces/a/pods/b/eviction", "", http.StatusTooManyRequests,
			map[[5]string]float64{{"429", "", "pods", "eviction", "create"}: 1},
		},
		"a request without an answer": {
			http.MethodDelete, "/api/v1/namespaces/a/secrets/b", "", 0,
			map[[5]string]float64{{"error", "", "secrets", "", "delete"}: 1},
		},
		"a read does not count":                     {http.MethodGet, "/api/v1/nodes", "", http.StatusOK, map[[5]string]float64{}},
		"a dry run does not count":                  {http.MethodPost, "/api/v1/namespaces/a/secrets?dryRun=All", "", http.StatusCreated, map[[5]string]float64{}},
		"a path that is no resource does not count": {http.MethodPost, "/healthz", "", http.StatusOK, map[[5]string]float64{}},
	} {
		t.Run(name, func(t *testing.T) {
			apiWrites.Reset()
			request, err := http.NewRequestWithContext(t.Context(), test.method, "https://server"+test.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", test.contentType)
			response, err := countWrites(test.status).RoundTrip(request)
			if err == nil {
				_ = response.Body.Close()
			}
			if (err != nil) != (test.status == 0) {
				t.Errorf("the request ends with %v", err)
			}
			if diff := cmp.Diff(test.want, counts(t)); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWritesThatTheFenceStopsAreNotCounted sends through a connection as the manager has it, while another instance leads.
func TestWritesThatTheFenceStopsAreNotCounted(t *testing.T) { //nolint:paralleltest // because the counter is one per process
	apiWrites.Reset()
	given := &rest.Config{}
	wrapWrites(given, fence.New(leaseDuration, renewDeadline, 0, time.Now))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://server/api/v1/namespaces/a/secrets", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := given.WrapTransport(answering(http.StatusCreated)).RoundTrip(request)
	if err == nil {
		_ = response.Body.Close()
		t.Error("the fence lets the request through")
	}
	if got := counts(t); len(got) != 0 {
		t.Errorf("counted %v", got)
	}
}
