// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Idle connections that are kept for the next call. Each one that is missing costs a handshake, or a process of ssh.
const (
	maxIdle     = 2 * parallel
	idleTimeout = 90 * time.Second
	dialTimeout = 10 * time.Second
)

// connect returns the options of a client that reaches the host. The client negotiates the API version with its first call. It does
// not use the proxies of the environment, which are for registries and web sites.
func connect(host machine.Host) ([]client.Opt, error) {
	endpoint, err := url.Parse(host.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("%w: its endpoint is not a URL", machine.ErrInvalid)
	}
	dialer := &net.Dialer{Timeout: dialTimeout}
	transport := &http.Transport{
		DialContext:         dialer.DialContext,
		MaxIdleConns:        maxIdle,
		MaxIdleConnsPerHost: maxIdle,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
	}
	address := host.Endpoint
	switch endpoint.Scheme {
	case "unix":
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", endpoint.Path)
		}
	case "tcp":
		transport.TLSClientConfig, err = host.TLS.Config()
	case "ssh":
		address = "http://" + endpoint.Host
		transport.DialContext, err = dialSSH(endpoint, host.SSH)
	default:
		err = fmt.Errorf("%w: its endpoint begins with %.32q: must be unix, tcp or ssh", machine.ErrInvalid, endpoint.Scheme)
	}
	if err != nil {
		return nil, err
	}
	return []client.Opt{
		client.WithUserAgent("windlass"),
		client.WithHost(address),
		// After the host, which would replace the dialer of the transport.
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
	}, nil
}
