// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/gateway"
	"github.com/windlass-operator/windlass/internal/gateway/console"
	"github.com/windlass-operator/windlass/internal/gateway/login"
	"github.com/windlass-operator/windlass/internal/gateway/usage"
)

// addresses are those of an HTTP API that is being served.
type addresses interface {
	// URL is the address for the user, which grants the rights of a session.
	URL() string
	// BrowserURL is the address for the arguments of a program, which other users of the machine can see.
	BrowserURL() string
}

// announce is called once the HTTP API accepts connections. It may be nil.
type announce func(api addresses) error

// addGateway adds the HTTP API to the manager, if it is enabled.
func addGateway(
	ctx context.Context, mgr manager.Manager, restConfig *rest.Config, given tools, tell announce,
) error {
	conf, log := given.conf, given.log
	if !conf.Gateway.Enabled() {
		return nil
	}
	root, err := console.New()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", conf.Gateway.BindAddress)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w: choose another address", conf.Gateway.BindAddress, cause(err))
	}
	api, err := gateway.New(ctx, gateway.Options{
		Config: restConfig, Listener: listener, CertFile: conf.Gateway.CertFile, KeyFile: conf.Gateway.KeyFile,
		Plaintext:  conf.Gateway.ServesPlaintext(),
		Session:    conf.Gateway.Session || conf.Gateway.SessionFile != "",
		Namespaces: given.namespaces, ClusterName: conf.Gateway.ClusterName, SystemNamespace: cmp.Or(conf.OwnNamespace, config.DefaultNamespace),
		SessionLifetime: conf.Gateway.SessionLifetime, SessionIdle: conf.Gateway.SessionIdleTimeout,
		Provider:          provider(&conf.Gateway),
		Prometheus:        history(&conf.Gateway),
		RequestsPerSecond: conf.Gateway.RequestsPerSecond, ConnectionsPerAddress: conf.Gateway.ConnectionsPerAddress,
		Hosts: given.reach.hosts(), Root: root, Version: version, Now: time.Now,
		Log: log.WithName("gateway"),
	})
	if err != nil {
		_ = listener.Close()
		return err
	}
	if err := mgr.Add(api); err != nil {
		return fmt.Errorf("cannot add the HTTP API: %w", err)
	}
	if err := mgr.AddReadyzCheck("gateway", api.Ready); err != nil {
		return fmt.Errorf("cannot set up the health probe of the HTTP API: %w", err)
	}
	log.Info("Serving the HTTP API", "address", listener.Addr().String())
	if conf.Gateway.SessionFile != "" {
		if err := writeSession(conf.Gateway.SessionFile, api.URL()); err != nil {
			return err
		}
	}
	if tell != nil {
		// The socket listens already: requests that come at once wait and are not refused.
		return tell(api)
	}
	return nil
}

// provider returns where people log in with a browser; nil for nowhere.
func provider(of *config.Gateway) *login.ProviderOptions {
	if !of.LogsInAtProvider() {
		return nil
	}
	return &login.ProviderOptions{
		IssuerURL: of.OIDCIssuerURL, ClientID: of.OIDCClientID, ClientSecretFile: of.OIDCClientSecretFile, RedirectURL: of.OIDCRedirectURL,
		CAFile: of.OIDCCAFile, Scopes: of.OIDCScopes,
	}
}

// history returns who has the usage of long ago; nil for nobody.
func history(of *config.Gateway) *usage.HistoryOptions {
	if of.PrometheusURL == "" {
		return nil
	}
	return &usage.HistoryOptions{URL: of.PrometheusURL, TokenFile: of.PrometheusTokenFile, CAFile: of.PrometheusCAFile}
}

// writeSession writes the URL, whole or not at all, so that only the user can read it.
func writeSession(path, url string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".session-*") // which only its owner may read
	if err != nil {
		return fmt.Errorf("cannot write the session file: %w", err)
	}
	_, err = file.WriteString(url + "\n")
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return fmt.Errorf("cannot write the session file: %w", err)
	}
	return nil
}
