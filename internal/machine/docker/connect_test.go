// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	daemon, _, _ := shared(t)
	ours, theirs := newAuthority(t), newAuthority(t)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = daemon.RoundTripper()
	server := httptest.NewUnstartedServer(proxy)
	certificate, err := tls.LoadX509KeyPair(ours.Cert, ours.Key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(read(t, ours.CA))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // It has every reason to complain.
	server.StartTLS()
	t.Cleanup(server.Close)

	for name, test := range map[string]struct {
		files *machine.TLSFiles
		want  error
	}{
		"each side knows the other":      {&ours, nil},
		"the host's authority is wrong":  {&machine.TLSFiles{CA: theirs.CA, Cert: ours.Cert, Key: ours.Key}, machine.ErrUnreachable},
		"our certificate is a stranger":  {&machine.TLSFiles{CA: ours.CA, Cert: theirs.Cert, Key: theirs.Key}, machine.ErrUnreachable},
		"we have no certificate":         {&machine.TLSFiles{CA: ours.CA}, machine.ErrUnreachable},
		"the system does not trust them": {&machine.TLSFiles{Cert: ours.Cert, Key: ours.Key}, machine.ErrUnreachable},
		"we speak without encryption":    {nil, machine.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			driver := open(t, machine.Host{Name: "tls", Endpoint: "tcp://" + server.Listener.Addr().String(), TLS: test.files})
			info, err := driver.Info(t.Context())
			if !errors.Is(err, test.want) || test.want == nil && info.Version == "" {
				t.Errorf("Info returned %+v, %v; want %v", info, err, test.want)
			}
		})
	}
}

func TestHostsThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	for name, host := range map[string]machine.Host{
		"no URL":                     {Endpoint: "unix://%zz"},
		"a scheme of another driver": {Endpoint: "qemu:///system"},
		"a CA that is not there":     {Endpoint: "tcp://127.0.0.1:1", TLS: &machine.TLSFiles{CA: "/no/such/file"}},
		"a key that is not there":    {Endpoint: "tcp://127.0.0.1:1", TLS: &machine.TLSFiles{Cert: "/no/such/file", Key: "/no/such/file"}},
		"an option for a host":       {Endpoint: "ssh://-oProxyCommand=touch%20x"},
		"an option for a user":       {Endpoint: "ssh://-oProxyCommand=x@host"},
		"a command for a socket":     {Endpoint: "ssh://host/run/docker.sock;reboot"},
		"a file with an option":      {Endpoint: "ssh://host", SSH: &machine.SSHFiles{IdentityFile: "/x -oProxyCommand=y"}},
		"a file with a token":        {Endpoint: "ssh://host", SSH: &machine.SSHFiles{KnownHostsFile: "/x%h"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if driver, err := docker.Open(t.Context(), host); err == nil {
				t.Errorf("Open succeeded: %v", driver.Close())
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	for name, endpoint := range map[string]string{
		"no socket":   "unix://" + filepath.Join(t.TempDir(), "none.sock"),
		"no listener": "tcp://127.0.0.1:1",
		"no SSH host": "ssh://127.0.0.1:1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			driver := open(t, machine.Host{Name: "nobody", Endpoint: endpoint})
			if _, err := driver.Info(t.Context()); !errors.Is(err, machine.ErrUnreachable) {
				t.Errorf("Info returned %v, want %v", err, machine.ErrUnreachable)
			}
			if _, err := driver.Get(t.Context(), newIdentity()); !errors.Is(err, machine.ErrUnreachable) || errors.Is(err, machine.ErrNotFound) {
				t.Errorf("Get returned %v, want %v", err, machine.ErrUnreachable)
			}
		})
	}
}

// newAuthority returns the files of a CA and of a certificate of it that is good for both sides.
func newAuthority(t *testing.T) machine.TLSFiles {
	t.Helper()
	dir := t.TempDir()
	files := machine.TLSFiles{CA: filepath.Join(dir, "ca.pem"), Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: dir}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "both"}, NotAfter: authority.NotAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	authorityKey, leafKey := newKey(t), newKey(t)
	write(t, files.CA, "CERTIFICATE", sign(t, authority, authority, &authorityKey.PublicKey, authorityKey))
	write(t, files.Cert, "CERTIFICATE", sign(t, leaf, authority, &leafKey.PublicKey, authorityKey))
	key, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	write(t, files.Key, "PRIVATE KEY", key)
	return files
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, what, by *x509.Certificate, public *ecdsa.PublicKey, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	out, err := x509.CreateCertificate(rand.Reader, what, by, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t *testing.T, path, kind string, bytes []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	out, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// An SSH client that fails says why, and its words are the error.
func TestSSHSaysWhy(t *testing.T) {
	t.Parallel()
	driver := open(t, machine.Host{Name: "nobody", Endpoint: "ssh://127.0.0.1:1"})
	if _, err := driver.Info(t.Context()); err == nil || !strings.Contains(err.Error(), "SSH client") {
		t.Errorf("Info returned %v, want the words of the SSH client", err)
	}
}
