// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// everywhere is a listener on all addresses of the machine, as far as it tells.
type everywhere struct{ net.Listener }

// Addr implements net.Listener.
func (everywhere) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero, Port: 8090} }

// TestAttackTokensAreReadFromTheNetwork sends a token in plain text to a gateway as it is shipped. It used to be answered.
func TestAttackTokensAreReadFromTheNetwork(t *testing.T) {
	t.Parallel()
	r := &rig{Harness: testkit.New(t), log: &logLines{}}
	r.serve(t, Options{Config: rest.AnonymousClientConfig(r.Config)})
	address := r.g.options.Listener.Addr().String()

	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	must(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n")
	must(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusBadRequest || response.Header.Get("X-Request-Id") != "" {
		t.Errorf("the API answers without TLS: %d %v", response.StatusCode, response.Header)
	}

	encrypted, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", address)
	must(t, err)
	defer func() { _ = encrypted.Close() }()
	secure, ok := encrypted.(*tls.Conn)
	if !ok {
		t.Fatalf("%T is not a TLS connection", encrypted)
	}
	shown := secure.ConnectionState().PeerCertificates[0]
	if err := shown.VerifyHostname("windlass-gateway.windlass-system.svc"); err != nil {
		t.Error(err)
	}
	sum := hex.EncodeToString(fingerprint(&tls.Certificate{Leaf: shown}))
	if lines := r.log.with("Using a certificate"); len(lines) != 1 || !strings.Contains(lines[0], sum) {
		t.Errorf("the log does not say which certificate is used: %q", lines)
	}

	_, err = New(t.Context(), Options{Config: rest.AnonymousClientConfig(r.Config), Listener: everywhere{}, Plaintext: true})
	if err == nil || !strings.Contains(err.Error(), "not a loopback address") {
		t.Errorf("plain text on all addresses: %v", err)
	}
}

func TestCertificateIsRenewedBeforeItExpires(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	shown, err := newCertificate(selfSigned(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, now), renewAfter, now, logr.Discard())
	must(t, err)
	leaf := func() *x509.Certificate {
		t.Helper()
		got, err := shown.get(nil)
		must(t, err)
		return got.Leaf
	}
	first := leaf()
	if err := first.VerifyHostname("10.0.0.1"); err != nil {
		t.Error(err)
	}
	at = at.Add(renewAfter - time.Second)
	if !leaf().Equal(first) {
		t.Error("it is renewed early")
	}
	at = at.Add(time.Second)
	second := leaf()
	if second.Equal(first) || !first.NotAfter.After(at) || !second.NotAfter.After(at.Add(renewAfter)) {
		t.Errorf("after %s the certificate is valid until %s", renewAfter, second.NotAfter)
	}
	if bytes.Equal(first.RawSubjectPublicKeyInfo, second.RawSubjectPublicKeyInfo) {
		t.Error("it keeps its key")
	}
}

// TestCertificateStaysWhileItsFilesAreWritten has a new certificate whose key is not there yet.
func TestCertificateStaysWhileItsFilesAreWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	certify(t, certFile, keyFile)
	at := time.Now()
	shown, err := newCertificate(fromFiles(certFile, keyFile), rereadAfter, func() time.Time { return at }, logr.Discard())
	must(t, err)
	first := shown.current
	certify(t, filepath.Join(dir, "next"), filepath.Join(dir, "next-key"))
	must(t, os.Rename(filepath.Join(dir, "next"), certFile))
	for _, step := range []struct {
		about string
		same  bool
		then  func()
	}{
		{"only the certificate is new", true, func() { must(t, os.Rename(filepath.Join(dir, "next-key"), keyFile)) }},
		{"both are new", false, func() { must(t, os.Remove(certFile)) }},
		{"one is gone", false, func() {}},
	} {
		at = at.Add(rereadAfter)
		got, err := shown.get(nil)
		if err != nil || (got == first) != step.same {
			t.Errorf("%s: the old one is shown: %t, %v", step.about, got == first, err)
		}
		step.then()
	}
	if _, err := newCertificate(fromFiles(certFile, keyFile), rereadAfter, time.Now, logr.Discard()); err == nil {
		t.Error("a start without the file is no error")
	}
}
