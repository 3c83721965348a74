// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirttest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The files of an authority, a server and a client.
const (
	caFile     = "ca.pem"
	serverCert = "server.pem"
	serverKey  = "server-key.pem"
	clientCert = "client.pem"
	clientKey  = "client-key.pem"
)

// CertificatesIn returns the files of a client in a directory of MakeCertificates.
func CertificatesIn(dir string) *machine.TLSFiles {
	return &machine.TLSFiles{CA: filepath.Join(dir, caFile), Cert: filepath.Join(dir, clientCert), Key: filepath.Join(dir, clientKey)}
}

// MakeCertificates makes an authority, a server on 127.0.0.1 and a client.
func MakeCertificates(dir string) error {
	authority := certificate{
		subject: "authority", usage: x509.KeyUsageCertSign, ca: true, file: filepath.Join(dir, caFile), keyFile: filepath.Join(dir, "ca-key.pem"),
	}
	if err := authority.make(nil); err != nil {
		return err
	}
	server := certificate{
		subject: "server", purpose: x509.ExtKeyUsageServerAuth, file: filepath.Join(dir, serverCert), keyFile: filepath.Join(dir, serverKey),
	}
	client := certificate{
		subject: "client", purpose: x509.ExtKeyUsageClientAuth, file: filepath.Join(dir, clientCert), keyFile: filepath.Join(dir, clientKey),
	}
	return errors.Join(server.make(&authority), client.make(&authority))
}

// certificate is one to make.
type certificate struct {
	subject       string
	usage         x509.KeyUsage
	purpose       x509.ExtKeyUsage
	ca            bool
	file, keyFile string

	made *x509.Certificate
	key  crypto.Signer
}

// make makes and writes the certificate, signed by the issuer or by itself.
func (c *certificate) make(issuer *certificate) (err error) {
	if c.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: c.subject}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: c.ca, BasicConstraintsValid: true, KeyUsage: c.usage | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
	parent, signer := template, c.key
	if issuer != nil {
		parent, signer = issuer.made, issuer.key
		template.ExtKeyUsage = []x509.ExtKeyUsage{c.purpose}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, c.key.Public(), signer)
	if err != nil {
		return err
	}
	if c.made, err = x509.ParseCertificate(der); err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(c.key)
	if err != nil {
		return err
	}
	return errors.Join(writePEM(c.file, "CERTIFICATE", der), writePEM(c.keyFile, "PRIVATE KEY", key))
}

func writePEM(path, kind string, content []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600)
}
