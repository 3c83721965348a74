// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-operator/windlass/internal/config"
)

// apiWrites has few series: the resources that the controllers write are in their code.
var apiWrites = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "windlass_api_writes_total",
	Help: "Requests of the controllers that change the cluster, by verb, resource and HTTP status; error without an answer. Dry runs and the " +
		"renewals of the Lease do not count.",
}, []string{"verb", "group", "resource", "subresource", "code"})

func init() {
	info := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "windlass_build_info", Help: "Version of the program. Always 1.", ConstLabels: prometheus.Labels{"version": version},
	}, func() float64 { return 1 })
	metrics.Registry.MustRegister(apiWrites, info)
}

// verbosityPath is Windlass' own: who may change the components of Kubernetes, at /debug/flags/v, does not get this with it, nor the other
// way round.
const verbosityPath = "/windlass/verbosity"

// metricsOptions says how the metrics are served. Where callers are asked who they are, those that may can change the verbosity of the log.
func metricsOptions(restConfig *rest.Config, conf *config.Config, detail http.Handler) metricsserver.Options {
	options := metricsserver.Options{BindAddress: conf.MetricsBindAddress}
	if !conf.MetricsSecure {
		return options
	}
	options.SecureServing, options.CertDir = true, conf.MetricsCertDir
	options.ExtraHandlers = map[string]http.Handler{verbosityPath: detail}
	// Reviews are created, so the fence of an instance that waits for the leadership would refuse them. They change nothing:
	// the filter gets a connection without it.
	options.FilterProvider = func(*rest.Config, *http.Client) (metricsserver.Filter, error) {
		unfenced, err := rest.HTTPClientFor(restConfig)
		if err != nil {
			return nil, fmt.Errorf("cannot make the client that asks who may read the metrics: %w", err)
		}
		return filters.WithAuthenticationAndAuthorization(restConfig, unfenced)
	}
	return options
}
