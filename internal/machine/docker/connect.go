// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Connections that wait for their next call. What is too few is paid for with handshakes, or with processes of ssh.
const (
	maxIdle     = 2 * parallel
	idleTimeout = 90 * time.Second
	dialTimeout = 10 * time.Second
)

// connect returns the way to the host. The API version is negotiated with the first call. Proxies of the environment are for
// registries and web sites, and not used.
func connect(host machine.Host) ([]client.Opt, error) {
	endpoint, err := url.Parse(host.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("%w: its endpoint is no URL", machine.ErrInvalid)
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
		transport.TLSClientConfig, err = encrypt(host.TLS)
	case "ssh":
		address = "http://" + endpoint.Host
		transport.DialContext, err = dialSSH(endpoint, host.SSH)
	default:
		err = fmt.Errorf("%w: its endpoint begins with %.32q and not with unix, tcp or ssh", machine.ErrInvalid, endpoint.Scheme)
	}
	if err != nil {
		return nil, err
	}
	return []client.Opt{
		client.WithUserAgent("windlass"),
		client.WithHost(address),
		// In this order: the host would give the transport a dialler of its own.
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
	}, nil
}

// encrypt returns the TLS settings, nil for none. The host is always verified. A client certificate is read for every connection, so
// that one that is renewed is used.
func encrypt(files *machine.TLSFiles) (*tls.Config, error) {
	if files == nil {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if files.CA != "" {
		pem, err := os.ReadFile(files.CA)
		if err != nil {
			return nil, fmt.Errorf("cannot read the CA: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("cannot use CA %q: %w: it holds no certificate", files.CA, machine.ErrInvalid)
		}
	}
	if files.Cert == "" {
		return config, nil
	}
	read := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			return nil, fmt.Errorf("cannot read the client certificate: %w", err)
		}
		return &pair, nil
	}
	if _, err := read(nil); err != nil {
		return nil, err
	}
	config.GetClientCertificate = read
	return config, nil
}
