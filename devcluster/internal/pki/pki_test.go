// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	dir := Dir(filepath.Join(t.TempDir(), "pki"))
	if err := Create(dir, []net.IP{net.ParseIP("127.0.0.1")}, []string{"localhost"}); err != nil {
		t.Fatal(err)
	}
	for _, leaf := range leaves() {
		own := read(t, dir, leaf.name)[0]
		for _, authority := range []string{CA, EtcdCA, FrontProxyCA} {
			roots := x509.NewCertPool()
			roots.AddCert(read(t, dir, authority)[0])
			usage := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
			_, err := own.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: usage})
			if trusted := err == nil; trusted != (authority == leaf.authority) {
				t.Errorf("%s is trusted by %s: %v, %v", leaf.name, authority, trusted, err)
			}
		}
		// A client whose clock is an hour behind connects too.
		roots := x509.NewCertPool()
		roots.AddCert(read(t, dir, leaf.authority)[0])
		usage := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		if _, err := own.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: usage, CurrentTime: time.Now().Add(-time.Hour)}); err != nil {
			t.Errorf("an hour ago %s was not trusted: %v", leaf.name, err)
		}
		if named := own.VerifyHostname("127.0.0.1") == nil; named != leaf.serving {
			t.Errorf("%s is good for 127.0.0.1: %v", leaf.name, named)
		}
	}
	entries, err := os.ReadDir(string(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want mode 0600", entry.Name(), info.Mode(), err)
		}
	}
}

func TestIssueNode(t *testing.T) {
	t.Parallel()
	dir := Dir(t.TempDir())
	if err := Create(dir, []net.IP{net.ParseIP("127.0.0.1")}, []string{"localhost"}); err != nil {
		t.Fatal(err)
	}
	if err := IssueNode(dir, "alpha"); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(read(t, dir, CA)[0])
	for name, usage := range map[string]x509.ExtKeyUsage{Kubelet: x509.ExtKeyUsageClientAuth, KubeletServer: x509.ExtKeyUsageServerAuth} {
		own := read(t, dir, name)[0]
		if _, err := own.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if own.Subject.CommonName != "system:node:alpha" || own.Subject.Organization[0] != "system:nodes" {
			t.Errorf("%s is of %s", name, own.Subject)
		}
		if named := own.VerifyHostname("127.0.0.1") == nil; named != (name == KubeletServer) {
			t.Errorf("%s is good for 127.0.0.1: %v", name, named)
		}
	}
	before := read(t, dir, Kubelet)[0]
	if err := IssueNode(dir, "alpha"); err != nil {
		t.Fatal(err)
	}
	if !read(t, dir, Kubelet)[0].Equal(before) {
		t.Error("a second call has replaced the certificate that the kubelet runs with")
	}
	if err := IssueNode(dir, "beta"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, Kubelet)[0].Subject.CommonName; got != "system:node:beta" {
		t.Errorf("another node gets the certificate of %s", got)
	}
}

func read(t *testing.T, dir Dir, name string) []*x509.Certificate {
	t.Helper()
	certs, err := cert.CertsFromFile(dir.Cert(name))
	if err != nil {
		t.Fatal(err)
	}
	return certs
}
