// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
)

const (
	maxHeader     = 32 << 10
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// drain is how long running requests may take after the gateway was told to stop.
	drain = 10 * time.Second
)

// serve accepts connections until the context ends, and then waits for running requests. The server has no timeout for whole
// answers, which would end streams: every other route sets its own.
func (g *Gateway) serve(ctx context.Context) error {
	server := &http.Server{
		Handler: g.api.Handler(), MaxHeaderBytes: maxHeader, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		Protocols: new(http.Protocols), BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(g.options.Log.V(1).WithName("http")), slog.LevelInfo),
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	listener, err := g.encrypt()
	if err != nil {
		return errors.Join(err, g.options.Listener.Close())
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return fmt.Errorf("cannot serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	g.api.Stop()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		return errors.Join(fmt.Errorf("cannot finish running requests: %w", err), server.Close())
	}
	g.api.Await(end)
	return nil
}

// encrypt returns the listener, with TLS unless the gateway was told to serve without.
func (g *Gateway) encrypt() (net.Listener, error) {
	o := &g.options
	listener := bound(o.Listener, o.ConnectionsPerAddress)
	if o.Plaintext {
		return listener, nil
	}
	load, every := selfSigned(o.Listener.Addr(), o.Now), renewAfter
	if o.CertFile != "" {
		load, every = fromFiles(o.CertFile, o.KeyFile), rereadAfter
	}
	shown, err := newCertificate(load, every, o.Now, o.Log)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(listener, &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: shown.get, NextProtos: []string{"h2", "http/1.1"},
	}), nil
}
