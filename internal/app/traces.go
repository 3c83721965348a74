// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"github.com/go-logr/logr"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// tracesTimeout is how long the last traces may take to be sent. Nothing waits for them but the end of the process.
const tracesTimeout = 2 * time.Second

// startTraces begins to send traces, if a collector is configured, and returns what sends the rest of them.
func startTraces(ctx context.Context, conf *config.Config, log logr.Logger) (stop func(), err error) {
	if conf.OTLPEndpoint == "" {
		return func() {}, nil
	}
	shutdown, err := tracing.Start(ctx, conf.OTLPEndpoint, tracing.Instance{Version: version, Identity: conf.HolderIdentity}, log)
	if err != nil {
		return nil, err
	}
	log.Info("Sending traces", "endpoint", conf.OTLPEndpoint)
	return func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracesTimeout)
		defer cancel()
		if err := shutdown(limited); err != nil {
			log.V(1).Info("Could not send the last traces", "err", err.Error())
		}
	}, nil
}
