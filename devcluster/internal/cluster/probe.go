// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/windlass-operator/windlass/devcluster/internal/pki"
)

// prober checks whether components work.
type prober struct {
	// etcd trusts another authority than the other components, so it needs a client of its own.
	etcd, other *http.Client
}

// newProber reads the certificates once per call.
func newProber(dir pki.Dir) (*prober, error) {
	etcd, err := newHTTPClient(dir, pki.EtcdCA, pki.EtcdClient)
	if err != nil {
		return nil, err
	}
	other, err := newHTTPClient(dir, pki.CA, pki.Admin)
	if err != nil {
		return nil, err
	}
	return &prober{etcd: etcd, other: other}, nil
}

// newHTTPClient has a short timeout: a component that hangs must not delay the probes of the others.
func newHTTPClient(dir pki.Dir, authority, client string) (*http.Client, error) {
	raw, err := os.ReadFile(dir.Cert(authority))
	if err != nil {
		return nil, fmt.Errorf("cannot read authority %q: %w", authority, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(raw)
	pair, err := tls.LoadX509KeyPair(dir.Cert(client), dir.Key(client))
	if err != nil {
		return nil, fmt.Errorf("cannot read certificate %q: %w", client, err)
	}
	return &http.Client{
		Timeout: 2 * time.Second,
		Transport: &http.Transport{
			// No proxy, and no connection is kept: one to a process that has been replaced would fail later.
			TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
			DisableKeepAlives: true,
		},
	}, nil
}

// healthy returns nil if the component passes its probe, or else an error with its answer.
func (p *prober) healthy(ctx context.Context, c component, ports Ports) error {
	client := p.other
	if c.name == etcd {
		client = p.etcd
	}
	url := "https://" + address(c.ports(ports)[0]) + c.probe
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}
