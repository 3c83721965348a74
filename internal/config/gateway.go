// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/spf13/pflag"
)

// Gateway is the configuration of the HTTP API.
type Gateway struct {
	// BindAddress is the host:port that serves the API; "0" turns it off. Default: "0" in the manager, 127.0.0.1:8090 alone, any
	// free port of the loopback address for a session.
	BindAddress string

	// CertFile and KeyFile are the certificate in PEM, read again when they change. Default: empty, which serves without TLS.
	CertFile, KeyFile string

	// SessionFile is where the URL with the secret of a session is written, readable for the user alone. Requests from this
	// machine that carry the secret act as the kubeconfig. Default: empty, which allows none.
	SessionFile string

	// Session opens a session without a file: "windlass ui" prints the URL.
	Session bool

	// RequestsPerSecond is how many requests a second a caller may send; bursts may be five times that, 0 is no limit.
	// Default: 100.
	RequestsPerSecond float64

	prefix string
}

// BindFlags declares the flags with the prefix in front of their names. Their defaults are the values that g has.
func (g *Gateway) BindFlags(fs *pflag.FlagSet, prefix string) {
	g.prefix = prefix
	fs.StringVar(&g.BindAddress, prefix+"bind-address", g.BindAddress, "`host:port` that serves the HTTP API, \"0\" for none")
	fs.StringVar(&g.CertFile, prefix+"tls-cert-file", g.CertFile, "`file` with the certificate of the HTTP API (default no TLS)")
	fs.StringVar(&g.KeyFile, prefix+"tls-private-key-file", g.KeyFile, "`file` with the key of that certificate")
	fs.StringVar(&g.SessionFile, prefix+"session-file", g.SessionFile,
		"`file` to write a URL to whose bearer acts as the kubeconfig; only on the loopback address")
	fs.Float64Var(&g.RequestsPerSecond, prefix+"requests-per-second", g.RequestsPerSecond,
		"how many requests a caller may send, 0 for no limit")
}

// AddressFlag returns the flag that sets BindAddress.
func (g *Gateway) AddressFlag() string { return "--" + g.prefix + "bind-address" }

// Enabled reports whether the API is served.
func (g *Gateway) Enabled() bool { return g.BindAddress != off }

func (g *Gateway) validate() []error {
	var errs []error
	if !isAddress(g.BindAddress) {
		return []error{fmt.Errorf("--%sbind-address %q is neither host:port nor %q", g.prefix, g.BindAddress, off)}
	}
	if (g.CertFile == "") != (g.KeyFile == "") {
		errs = append(errs, fmt.Errorf("--%stls-cert-file and --%stls-private-key-file go together", g.prefix, g.prefix))
	}
	if g.RequestsPerSecond < 0 {
		errs = append(errs, fmt.Errorf("--%srequests-per-second is %g and must not be negative", g.prefix, g.RequestsPerSecond))
	}
	if (g.Session || g.SessionFile != "") && !onLoopback(g.BindAddress) {
		errs = append(errs, fmt.Errorf("a session acts as the kubeconfig, so it needs an address of the loopback interface and not %q",
			g.BindAddress))
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
