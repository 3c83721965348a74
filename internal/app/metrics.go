// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-operator/windlass/internal/config"
)

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
