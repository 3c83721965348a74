// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// certify writes a new certificate and its key.
func certify(t *testing.T, certFile, keyFile string) {
	t.Helper()
	cert, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	must(t, err)
	must(t, os.WriteFile(keyFile, key, 0o600))
	must(t, os.WriteFile(certFile, cert, 0o600))
}

// TestTLS holds that HTTP/2 is spoken, and that a certificate that changes is served without a restart.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	certify(t, certFile, keyFile)
	r := &rig{Harness: testkit.New(t), log: &logLines{}}
	r.serve(t, Options{Config: rest.AnonymousClientConfig(r.Config), CertFile: certFile, KeyFile: keyFile})
	if !strings.HasPrefix(r.base, "https://") {
		t.Fatalf("the address is %s", r.base)
	}
	serial := func() string {
		t.Helper()
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableKeepAlives: true}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+"/openapi.json", http.NoBody)
		must(t, err)
		response, err := (&http.Client{Transport: transport}).Do(request)
		must(t, err)
		defer func() { _ = response.Body.Close() }()
		if response.ProtoMajor != 2 || response.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("it answers with %s %v", response.Proto, response.Header)
		}
		return response.TLS.PeerCertificates[0].SerialNumber.String()
	}
	first := serial()
	certify(t, certFile, keyFile)
	testkit.Eventually(t, "the new certificate is served", func() bool { return serial() != first })
}

// TestStopEndsStreams holds that an orderly end does not wait for readers, who would stay for ever.
func TestStopEndsStreams(t *testing.T) { //nolint:tparallel // because the end of the inner test is what the outer one waits for
	t.Parallel()
	outer := t
	var f *follower
	t.Run("a gateway that ends", func(t *testing.T) {
		r := newRig(t)
		f = r.follow(outer, r.user(t, "", everything()), "", "", "nodes") // which ends with the outer test
		f.until("the snapshot", done)
	})
	for range f.events { // or the test never ends
	}
}
