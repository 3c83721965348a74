// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pki makes the certificates of a local cluster.
//
// Three authorities, as in any real cluster, because each is trusted for something else: one for clients of the API
// server, one for etcd (whose clients are almighty), one for the aggregation layer.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// lifetime outlives any local cluster, so nothing has to be renewed.
const lifetime = 10 * 365 * 24 * time.Hour

// Dir is a directory of certificates and keys.
type Dir string

// Cert is the path of a certificate.
func (d Dir) Cert(name string) string { return filepath.Join(string(d), name+".crt") }

// Key is the path of a private key.
func (d Dir) Key(name string) string { return filepath.Join(string(d), name+".key") }

// Public is the path of the public half of a key that has no certificate.
func (d Dir) Public(name string) string { return filepath.Join(string(d), name+".pub") }

// Names of the authorities, certificates and keys.
const (
	CA                = "ca"
	EtcdCA            = "etcd-ca"
	FrontProxyCA      = "front-proxy-ca"
	Server            = "server"
	EtcdServer        = "etcd-server"
	EtcdClient        = "etcd-client"
	FrontProxyClient  = "front-proxy-client"
	KubeletClient     = "kubelet-client"
	Admin             = "admin"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	KwokController    = "kwok-controller"
	ServiceAccounts   = "service-accounts"
	Kubelet           = "kubelet"
	KubeletServer     = "kubelet-server"
)

// kubelets is the group that the node authorizer applies to.
const kubelets = "system:nodes"

// masters is the group to which the API server allows everything.
const masters = "system:masters"

// leaf is a certificate of an authority.
type leaf struct {
	name, authority, commonName, group string
	// serving is set for servers, whose certificates contain addresses and names.
	serving bool
}

// leaves returns the certificates that Create issues.
func leaves() []leaf {
	return []leaf{
		{name: Server, authority: CA, commonName: "kube-apiserver", serving: true},
		{name: KubeletClient, authority: CA, commonName: "kube-apiserver-kubelet-client", group: masters},
		{name: Admin, authority: CA, commonName: "kubernetes-admin", group: masters},
		{name: ControllerManager, authority: CA, commonName: "system:kube-controller-manager"},
		{name: Scheduler, authority: CA, commonName: "system:kube-scheduler"},
		{name: KwokController, authority: CA, commonName: "kwok-controller", group: masters},
		{name: EtcdServer, authority: EtcdCA, commonName: "etcd", serving: true},
		{name: EtcdClient, authority: EtcdCA, commonName: "kube-apiserver"},
		{name: FrontProxyClient, authority: FrontProxyCA, commonName: "front-proxy-client"},
	}
}

// backdate is how far in the past certificates begin: further than the clock of a client may be behind.
const backdate = 2 * time.Hour

type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// Create fills a directory with all authorities, certificates and keys. The certificates of servers contain the given
// addresses and names.
func Create(dir Dir, ips []net.IP, hosts []string) error {
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		return fmt.Errorf("cannot create certificate directory %q: %w", dir, err)
	}
	authorities := map[string]authority{}
	for _, name := range []string{CA, EtcdCA, FrontProxyCA} {
		key, err := newKey(dir, name)
		if err != nil {
			return err
		}
		own, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "devcluster-" + name, NotBefore: time.Now().Add(-backdate).UTC()}, key)
		if err != nil {
			return fmt.Errorf("cannot create authority %q: %w", name, err)
		}
		if err := writeCert(dir, name, own.Raw); err != nil {
			return err
		}
		authorities[name] = authority{cert: own, key: key}
	}
	for _, leaf := range leaves() {
		template := &x509.Certificate{Subject: pkix.Name{CommonName: leaf.commonName}}
		if leaf.group != "" {
			template.Subject.Organization = []string{leaf.group}
		}
		if leaf.serving {
			template.IPAddresses, template.DNSNames = ips, hosts
			template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
		}
		// etcd also uses its serving certificate as a client, for itself and for its peers.
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
		if err := issue(dir, leaf.name, template, authorities[leaf.authority]); err != nil {
			return err
		}
	}
	return createServiceAccountKey(dir)
}

// IssueNode issues the two certificates of a real node's kubelet in a directory that Create has filled: Kubelet, with which
// it authenticates to the API server, and KubeletServer, with which it serves on the loopback address. It keeps existing
// certificates of that node.
func IssueNode(dir Dir, node string) error {
	by, err := load(dir, CA)
	if err != nil {
		return err
	}
	templates := map[string]*x509.Certificate{
		Kubelet: {
			Subject:     pkix.Name{CommonName: "system:node:" + node, Organization: []string{kubelets}},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		},
		KubeletServer: {
			Subject:     pkix.Name{CommonName: "system:node:" + node, Organization: []string{kubelets}},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
			DNSNames:    []string{"localhost", node},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		},
	}
	for name, template := range templates {
		// The certificate is written after its key, so if it exists, both do. One for another node is from an earlier attempt.
		own, err := cert.CertsFromFile(dir.Cert(name))
		if err == nil && own[0].Subject.CommonName == template.Subject.CommonName {
			continue
		}
		if err := issue(dir, name, template, by); err != nil {
			return err
		}
	}
	return nil
}

// load reads an authority that Create has created.
func load(dir Dir, name string) (authority, error) {
	certs, err := cert.CertsFromFile(dir.Cert(name))
	if err != nil {
		return authority{}, fmt.Errorf("cannot read authority %q: %w", name, err)
	}
	key, err := keyutil.PrivateKeyFromFile(dir.Key(name))
	if err != nil {
		return authority{}, fmt.Errorf("cannot read the key of authority %q: %w", name, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return authority{}, fmt.Errorf("cannot sign with the key of authority %q", name)
	}
	return authority{cert: certs[0], key: signer}, nil
}

// issue completes a template with the fields that all leaves share. The serial number must only be unique, so a random
// number does, without a stored counter.
func issue(dir Dir, name string, template *x509.Certificate, by authority) error {
	key, err := newKey(dir, name)
	if err != nil {
		return err
	}
	template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126))
	if err != nil {
		return fmt.Errorf("cannot draw a serial number for certificate %q: %w", name, err)
	}
	template.NotBefore, template.NotAfter = by.cert.NotBefore, time.Now().Add(lifetime).UTC()
	template.KeyUsage = x509.KeyUsageDigitalSignature
	raw, err := x509.CreateCertificate(rand.Reader, template, by.cert, key.Public(), by.key)
	if err != nil {
		return fmt.Errorf("cannot issue certificate %q: %w", name, err)
	}
	return writeCert(dir, name, raw)
}

// createServiceAccountKey creates the key that signs tokens. The controller manager and the API server share it.
func createServiceAccountKey(dir Dir) error {
	key, err := newKey(dir, ServiceAccounts)
	if err != nil {
		return err
	}
	raw, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("cannot encode public key %q: %w", ServiceAccounts, err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: keyutil.PublicKeyBlockType, Bytes: raw})
	if err := os.WriteFile(dir.Public(ServiceAccounts), block, 0o600); err != nil {
		return fmt.Errorf("cannot write public key %q: %w", ServiceAccounts, err)
	}
	return nil
}

// newKey creates elliptic keys: a dozen of them take milliseconds, RSA keys would double the start time of a cluster.
func newKey(dir Dir, name string) (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot create key %q: %w", name, err)
	}
	encoded, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, fmt.Errorf("cannot encode key %q: %w", name, err)
	}
	if err := keyutil.WriteKey(dir.Key(name), encoded); err != nil {
		return nil, fmt.Errorf("cannot write key %q: %w", name, err)
	}
	return key, nil
}

// writeCert makes certificates readable for their owner only; no one else needs them.
func writeCert(dir Dir, name string, raw []byte) error {
	block := pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: raw})
	if err := os.WriteFile(dir.Cert(name), block, 0o600); err != nil {
		return fmt.Errorf("cannot write certificate %q: %w", name, err)
	}
	return nil
}
