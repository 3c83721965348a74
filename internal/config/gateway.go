// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// Gateway is the configuration of the HTTP API.
type Gateway struct {
	// BindAddress is the host:port that serves the API; "0" turns it off. Default: "0" in the manager, 127.0.0.1:8090 in
	// "windlass gateway", and any free port of the loopback address in "windlass ui".
	BindAddress string

	// CertFile and KeyFile are the certificate and its key in PEM, read again when they change. Default: empty, for a certificate
	// that the gateway makes and renews itself.
	CertFile, KeyFile string

	// Plaintext serves without TLS, on a loopback address only. Default: false, but a session without a certificate is served in
	// plain text, because no browser knows the certificate that the gateway makes.
	Plaintext bool

	// SessionFile is the file that the URL with the secret of a session is written to, readable for its owner only. Requests
	// from this machine that have the secret act as the user of the kubeconfig. Default: empty, which opens no session.
	SessionFile string

	// Session opens a session without a file: "windlass ui" prints the URL.
	Session bool

	// SessionLifetime is when the session of a browser ends that has logged in, at the latest. Default: 12 hours.
	SessionLifetime time.Duration

	// SessionIdleTimeout is when it ends without a request. Default: one hour.
	SessionIdleTimeout time.Duration

	// OIDCIssuerURL is the OpenID provider where people log in with a browser. Default: empty, for none.
	OIDCIssuerURL string

	// OIDCClientID and OIDCClientSecretFile are the client at that provider. The API server has to accept its tokens.
	OIDCClientID, OIDCClientSecretFile string

	// OIDCRedirectURL is where the provider sends browsers back to: the address of this server as they reach it, and
	// /v1/session/oidc/callback.
	OIDCRedirectURL string

	// OIDCCAFile has the certificates in PEM that the provider's is verified with. Default: empty, for those of the system.
	OIDCCAFile string

	// OIDCScopes are asked for beside openid. Default: profile, email and offline_access.
	OIDCScopes []string

	// PrometheusURL is the Prometheus that has the usage of longer ago than the gateway remembers. Default: empty, for none.
	PrometheusURL string

	// PrometheusTokenFile has the bearer token for it, and is read for each query. Default: empty, for none.
	PrometheusTokenFile string

	// PrometheusCAFile has the certificates in PEM that its certificate is verified with. Default: empty, for those of the system.
	PrometheusCAFile string

	// ClusterName is the name of the cluster in the console, for people who have several clusters. Default: the current context of the
	// kubeconfig. Without a kubeconfig, the default is empty, and the console shows no name.
	ClusterName string

	// RequestsPerSecond bounds the requests of one caller; bursts may be five times that, 0 is no limit. Default: 100.
	RequestsPerSecond float64

	// ConnectionsPerAddress bounds the connections from one address; 0 is no limit. Default: 1024.
	ConnectionsPerAddress int

	prefix string
	// addressFlag is the name of the flag that sets BindAddress.
	addressFlag string
}

// BindFlags declares the flags, whose names begin with the prefix. Their defaults are the values of g.
func (g *Gateway) BindFlags(fs *pflag.FlagSet, prefix string) {
	g.prefix = prefix
	g.BindAddressFlag(fs, prefix+"bind-address", "`host:port` that serves the HTTP API, \"0\" to turn it off")
	fs.StringVar(&g.CertFile, prefix+"tls-cert-file", g.CertFile, "`file` with the certificate of the HTTP API (default a self-signed one that is renewed)")
	fs.StringVar(&g.KeyFile, prefix+"tls-private-key-file", g.KeyFile, "`file` with the private key of that certificate")
	fs.BoolVar(&g.Plaintext, prefix+"plaintext", g.Plaintext, "serve the HTTP API without TLS; needs a loopback address")
	fs.StringVar(&g.SessionFile, prefix+"session-file", g.SessionFile,
		"`file` to write a URL to that grants the rights of the kubeconfig; needs a loopback address")
	fs.DurationVar(&g.SessionLifetime, prefix+"session-lifetime", g.SessionLifetime,
		"`time` after which a browser that has logged in has to log in again")
	fs.DurationVar(&g.SessionIdleTimeout, prefix+"session-idle-timeout", g.SessionIdleTimeout,
		"`time` without a request after which a browser has to log in again")
	fs.StringVar(&g.OIDCIssuerURL, prefix+"oidc-issuer-url", g.OIDCIssuerURL,
		"`URL` of the OpenID provider where people log in with a browser; the API server has to accept its tokens")
	fs.StringVar(&g.OIDCClientID, prefix+"oidc-client-id", g.OIDCClientID, "`ID` of the client at the OpenID provider")
	fs.StringVar(&g.OIDCClientSecretFile, prefix+"oidc-client-secret-file", g.OIDCClientSecretFile, "`file` with the secret of that client")
	fs.StringVar(&g.OIDCRedirectURL, prefix+"oidc-redirect-url", g.OIDCRedirectURL,
		"`URL` of this server as browsers reach it, with the path "+OIDCCallback)
	fs.StringVar(&g.OIDCCAFile, prefix+"oidc-ca-file", g.OIDCCAFile, "`file` with the CA of the OpenID provider (default the system's)")
	fs.StringSliceVar(&g.OIDCScopes, prefix+"oidc-scopes", g.OIDCScopes, "`scopes` to ask the OpenID provider for beside openid")
	g.bindPrometheusFlags(fs, prefix)
	fs.StringVar(&g.ClusterName, prefix+"cluster-name", g.ClusterName,
		"`name` by which the console calls the cluster (default the context of the kubeconfig, where there is one)")
	fs.Float64Var(&g.RequestsPerSecond, prefix+"requests-per-second", g.RequestsPerSecond,
		"`number` of requests that one caller can send in a second, 0 for no limit")
	fs.IntVar(&g.ConnectionsPerAddress, prefix+"connections-per-address", g.ConnectionsPerAddress,
		"`number` of connections that one address can have, 0 for no limit; raise it if all callers come through one proxy")
}

func (g *Gateway) bindPrometheusFlags(fs *pflag.FlagSet, prefix string) {
	fs.StringVar(&g.PrometheusURL, prefix+"prometheus-url", g.PrometheusURL,
		"`URL` of the Prometheus that has the usage of nodes and machines for longer than three hours")
	fs.StringVar(&g.PrometheusTokenFile, prefix+"prometheus-token-file", g.PrometheusTokenFile, "`file` with the bearer token for Prometheus")
	fs.StringVar(&g.PrometheusCAFile, prefix+"prometheus-ca-file", g.PrometheusCAFile, "`file` with the CA of Prometheus (default the system's)")
}

// BindAddressFlag declares the one flag for BindAddress.
func (g *Gateway) BindAddressFlag(fs *pflag.FlagSet, name, usage string) {
	g.addressFlag = name
	fs.StringVar(&g.BindAddress, name, g.BindAddress, usage)
}

// AddressFlag returns the flag that sets BindAddress.
func (g *Gateway) AddressFlag() string { return "--" + g.addressFlag }

// ServesPlaintext reports whether the API is served without TLS.
func (g *Gateway) ServesPlaintext() bool {
	return g.Plaintext || g.CertFile == "" && (g.Session || g.SessionFile != "")
}

// Enabled reports whether the API is served.
func (g *Gateway) Enabled() bool { return g.BindAddress != off }

func (g *Gateway) validate() []error {
	var errs []error
	if !isAddress(g.BindAddress) {
		return []error{fmt.Errorf("%s is %q, but must be host:port or %q", g.AddressFlag(), g.BindAddress, off)}
	}
	if (g.CertFile == "") != (g.KeyFile == "") {
		errs = append(errs, fmt.Errorf("--%stls-cert-file and --%stls-private-key-file must be set together", g.prefix, g.prefix))
	}
	if g.Plaintext && g.CertFile != "" {
		errs = append(errs, fmt.Errorf("--%splaintext and --%stls-cert-file exclude each other", g.prefix, g.prefix))
	}
	if g.Plaintext && !onLoopback(g.BindAddress) {
		errs = append(errs, fmt.Errorf("--%splaintext would send tokens over the network unencrypted, so it needs a loopback address "+
			"instead of %q", g.prefix, g.BindAddress))
	}
	if err := nameOfCluster(g.ClusterName); err != nil {
		errs = append(errs, fmt.Errorf("--%scluster-name is %q: %w", g.prefix, g.ClusterName, err))
	}
	errs = append(errs, g.validateLogins()...)
	errs = append(errs, g.validateProvider()...)
	errs = append(errs, g.validatePrometheus()...)
	if g.RequestsPerSecond < 0 {
		errs = append(errs, fmt.Errorf("--%srequests-per-second is %g and must not be negative", g.prefix, g.RequestsPerSecond))
	}
	if g.ConnectionsPerAddress < 0 {
		errs = append(errs, fmt.Errorf("--%sconnections-per-address is %d and must not be negative", g.prefix, g.ConnectionsPerAddress))
	}
	if (g.Session || g.SessionFile != "") && !onLoopback(g.BindAddress) {
		errs = append(errs, fmt.Errorf("%s is %q, but a session grants the rights of the kubeconfig: give a loopback address",
			g.AddressFlag(), g.BindAddress))
	}
	return errs
}

// OIDCCallback is the path where an OpenID provider sends browsers back to.
const OIDCCallback = "/v1/session/oidc/callback"

// LogsInAtProvider reports whether people log in at an OpenID provider.
func (g *Gateway) LogsInAtProvider() bool { return g.OIDCIssuerURL != "" }

func (g *Gateway) validateProvider() []error {
	var errs []error
	if !g.LogsInAtProvider() {
		if g.OIDCClientID+g.OIDCClientSecretFile+g.OIDCRedirectURL+g.OIDCCAFile != "" {
			errs = append(errs, fmt.Errorf("--%soidc-issuer-url must be set with the other flags of the OpenID provider", g.prefix))
		}
		return errs
	}
	if g.OIDCClientID == "" {
		errs = append(errs, fmt.Errorf("--%soidc-client-id must be set with --%soidc-issuer-url", g.prefix, g.prefix))
	}
	if issuer, err := url.Parse(g.OIDCIssuerURL); err != nil || issuer.Scheme != "https" || issuer.Host == "" {
		errs = append(errs, fmt.Errorf("--%soidc-issuer-url is %q: it must be an https:// URL", g.prefix, g.OIDCIssuerURL))
	}
	back, err := url.Parse(g.OIDCRedirectURL)
	switch {
	case err != nil || back.Host == "" || back.Path != OIDCCallback || back.RawQuery != "" || back.Fragment != "":
		errs = append(errs, fmt.Errorf("--%soidc-redirect-url is %q: it must be the URL of this server with the path %s", g.prefix,
			g.OIDCRedirectURL, OIDCCallback))
	case back.Scheme != "https" && (back.Scheme != "http" || !onLoopback(net.JoinHostPort(back.Hostname(), "0"))):
		errs = append(errs, fmt.Errorf("--%soidc-redirect-url is %q: it must be an https:// URL, or one of a loopback address", g.prefix,
			g.OIDCRedirectURL))
	}
	return errs
}

func (g *Gateway) validatePrometheus() []error {
	if g.PrometheusURL == "" {
		if g.PrometheusTokenFile+g.PrometheusCAFile != "" {
			return []error{fmt.Errorf("--%sprometheus-url must be set with the other flags of Prometheus", g.prefix)}
		}
		return nil
	}
	at, err := url.Parse(g.PrometheusURL)
	switch {
	case err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "":
		// The URL is not repeated, because it may have a password.
		return []error{fmt.Errorf("--%sprometheus-url must be an https:// URL without a user, a query and a fragment; "+
			"a token goes into --%sprometheus-token-file", g.prefix, g.prefix)}
	case at.Scheme != "https" && (at.Scheme != "http" || !onLoopback(net.JoinHostPort(at.Hostname(), "0"))):
		return []error{fmt.Errorf("--%sprometheus-url is %q: it must be an https:// URL, or one of a loopback address", g.prefix, g.PrometheusURL)}
	}
	return nil
}

// maxSessionLifetime bounds how long a browser stays logged in.
const maxSessionLifetime = 30 * 24 * time.Hour

func (g *Gateway) validateLogins() []error {
	var errs []error
	if g.SessionLifetime < time.Minute || g.SessionLifetime > maxSessionLifetime {
		errs = append(errs, fmt.Errorf("--%ssession-lifetime is %s: it must be from 1m to %dh", g.prefix, g.SessionLifetime,
			int(maxSessionLifetime.Hours())))
	}
	if g.SessionIdleTimeout < time.Minute || g.SessionIdleTimeout > g.SessionLifetime {
		errs = append(errs, fmt.Errorf("--%ssession-idle-timeout is %s: it must be from 1m to the session lifetime, %s", g.prefix,
			g.SessionIdleTimeout, g.SessionLifetime))
	}
	return errs
}

func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	parsed, err := netip.ParseAddr(host)
	return err == nil && parsed.IsLoopback()
}

// maxClusterName bounds the name of the cluster, in bytes.
const maxClusterName = 128

// CallCluster sets the name of the cluster to that of a kubeconfig's context, unless a flag has set it. A context of a name that cannot be
// shown leaves it empty.
func (g *Gateway) CallCluster(context string) {
	if g.ClusterName == "" && nameOfCluster(context) == nil {
		g.ClusterName = context
	}
}

// nameOfCluster returns why a page cannot show the name.
func nameOfCluster(name string) error {
	switch {
	case len(name) > maxClusterName:
		return fmt.Errorf("a name has at most %d bytes", maxClusterName)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(name):
		return errors.New("a name has printable characters only")
	}
	return nil
}
