// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"math/big"
	"net"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

const (
	// certificateTTL is how long a certificate of our own is valid, and renewAfter when the next one is made.
	certificateTTL = 30 * 24 * time.Hour
	renewAfter     = 20 * 24 * time.Hour
	// clockSkew is how far behind the clock of a client can be.
	clockSkew = time.Hour
	// rereadAfter is how often the files of a certificate are looked at while clients connect. Looking costs less than a
	// handshake, and unlike a watch of the file system it cannot run out.
	rereadAfter = time.Second
)

// certificate is what the gateway shows in handshakes. It renews itself.
type certificate struct {
	now func() time.Time
	// load returns a newer certificate, or nil if there is none.
	load func() (*tls.Certificate, error)
	// every is how often load is called at most.
	every time.Duration
	log   logr.Logger

	mu      sync.Mutex
	current *tls.Certificate
	loaded  time.Time
}

// newCertificate returns a certificate once it was loaded for the first time.
func newCertificate(load func() (*tls.Certificate, error), every time.Duration, now func() time.Time, log logr.Logger) (*certificate, error) {
	first, err := load()
	if err != nil {
		return nil, err
	}
	out := &certificate{now: now, load: load, every: every, log: log, loaded: now()}
	out.show(first)
	return out, nil
}

// get implements tls.Config.GetCertificate. If the next certificate cannot be loaded, the present one stays.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Sub(c.loaded) < c.every {
		return c.current, nil
	}
	c.loaded = c.now()
	next, err := c.load()
	switch {
	case err != nil:
		c.log.Error(err, "Cannot renew the certificate")
	case next != nil:
		c.show(next)
	}
	return c.current, nil
}

// show makes the certificate the current one. The log has its fingerprint, so that a caller can compare what they were shown.
func (c *certificate) show(next *tls.Certificate) {
	c.current = next
	c.log.Info("Using a certificate", "sha256", hex.EncodeToString(fingerprint(next)), "expires", next.Leaf.NotAfter)
}

func fingerprint(of *tls.Certificate) []byte {
	sum := sha256.Sum256(of.Leaf.Raw)
	return sum[:]
}

// fromFiles loads a certificate whose files have changed since the last time.
func fromFiles(certFile, keyFile string) func() (*tls.Certificate, error) {
	var seen [2]os.FileInfo
	return func() (*tls.Certificate, error) {
		var now [2]os.FileInfo
		changed := false
		for i, path := range []string{certFile, keyFile} {
			var err error
			if now[i], err = os.Stat(path); err != nil {
				return nil, fmt.Errorf("cannot read the certificate: %w", err)
			}
			changed = changed || seen[i] == nil || !os.SameFile(seen[i], now[i]) ||
				seen[i].Size() != now[i].Size() || !seen[i].ModTime().Equal(now[i].ModTime())
		}
		if !changed {
			return nil, nil
		}
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil { // perhaps only one of them is written so far: the next time reads them again
			return nil, fmt.Errorf("cannot read the certificate %q: %w", certFile, err)
		}
		seen = now
		return &pair, nil
	}
}

// selfSigned makes a certificate whose key never leaves the process.
func selfSigned(address net.Addr, now func() time.Time) func() (*tls.Certificate, error) {
	return func() (*tls.Certificate, error) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, fmt.Errorf("cannot make a key: %w", err)
		}
		serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
		if err != nil {
			return nil, fmt.Errorf("cannot make a serial number: %w", err)
		}
		template := &x509.Certificate{
			SerialNumber: serial, Subject: pkix.Name{CommonName: "windlass-gateway"},
			NotBefore: now().Add(-clockSkew), NotAfter: now().Add(certificateTTL),
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
			BasicConstraintsValid: true,
			DNSNames: []string{
				"localhost", "windlass-gateway", "windlass-gateway.windlass-system", "windlass-gateway.windlass-system.svc",
			},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		}
		if tcp, ok := address.(*net.TCPAddr); ok && !tcp.IP.IsUnspecified() {
			template.IPAddresses = append(template.IPAddresses, tcp.IP)
		}
		raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			return nil, fmt.Errorf("cannot make a certificate: %w", err)
		}
		leaf, err := x509.ParseCertificate(raw)
		if err != nil {
			return nil, fmt.Errorf("cannot read our own certificate: %w", err)
		}
		return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}, nil
	}
}
