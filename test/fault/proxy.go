// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// marker is in every answer that a proxy makes up, so that it is recognised in logs, conditions and events.
const marker = "fault of the campaign"

// proxy stands between a manager and the API server. It passes everything on with the credentials of the caller, and lets the
// injector carry what has an effect.
//
// To the manager it speaks HTTP/1.1, where every request has its connection for itself: to cut one does not disturb the watches.
type proxy struct {
	server  *httptest.Server
	effects *injector
	reader  *requestReader
	// forward sends a request to the API server. It may be wrapped until the manager starts.
	forward http.Handler
}

// newProxy starts a proxy in front of the API server of a configuration.
func newProxy(config *rest.Config, effects *injector) (*proxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("cannot use the address of the API server: %w", err)
	}
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the API server: %w", err)
	}
	p := &proxy{effects: effects, reader: newRequestReader()}
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // watches send what they have at once
		// An API server that is away does not answer, and so neither does the proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	p.server = httptest.NewUnstartedServer(p)
	p.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // cut connections are what it is for
	identity, err := newIdentity()
	if err != nil {
		return nil, err
	}
	p.server.TLS = &tls.Config{Certificates: []tls.Certificate{identity}, MinVersion: tls.VersionTLS13}
	p.server.StartTLS()
	return p, nil
}

// newIdentity makes the certificate of a proxy. Each request that is under way has a connection for itself, and with the RSA key of httptest
// the handshakes would be the largest part of what the campaign itself costs.
func newIdentity() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cannot make a key for the proxy: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fault"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cannot make a certificate for the proxy: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, nil
}

// config returns how a client with that token connects to the proxy.
func (p *proxy) config(token string) *rest.Config {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	return &rest.Config{Host: p.server.URL, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
}

// close ends the proxy and all connections.
func (p *proxy) close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		p.forward.ServeHTTP(w, r)
		return
	}
	body := take(r)
	e, ok := p.reader.read(r, body)
	if !ok {
		p.forward.ServeHTTP(w, r)
		return
	}
	p.effects.carry(e, &write{proxy: p, w: w, r: r})
}

// take returns the body of a request, which can be read again.
func take(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// write is a request to the API server that changes something, under way.
type write struct {
	proxy *proxy
	w     http.ResponseWriter
	r     *http.Request
	kept  *httptest.ResponseRecorder
}

// send implements call. A manager that dies does not take back what it has sent.
func (c *write) send() {
	c.kept = httptest.NewRecorder()
	c.proxy.forward.ServeHTTP(c.kept, c.r.WithContext(context.WithoutCancel(c.r.Context())))
}

// answer implements call.
func (c *write) answer() {
	maps.Copy(c.w.Header(), c.kept.Header())
	c.w.WriteHeader(c.kept.Code)
	_, _ = c.kept.Body.WriteTo(c.w)
}

// refuse implements call: it answers as the API server does.
func (c *write) refuse(code int) {
	reasons := map[int]metav1.StatusReason{
		http.StatusConflict: metav1.StatusReasonConflict, http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests,
		http.StatusInternalServerError: metav1.StatusReasonInternalError, http.StatusGatewayTimeout: metav1.StatusReasonTimeout,
		http.StatusForbidden: metav1.StatusReasonForbidden,
	}
	if code == http.StatusTooManyRequests {
		c.w.Header().Set("Retry-After", "1")
	}
	makeUp(c.w, code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reasons[code], Message: fmt.Sprintf("%s: %d", marker, code), //nolint:gosec // a status code is small
	})
}

// makeUp gives an answer that nobody behind the proxy has given. A manager that does not listen any more is not an error.
func makeUp(w http.ResponseWriter, code int, answer any) {
	raw, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(raw)
}

// cut implements call.
func (c *write) cut() { panic(http.ErrAbortHandler) }
