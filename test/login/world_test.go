// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// gateways is how many of them there can be. The provider has to know the address of each.
const gateways = 12

// clientSecret is that of the provider's clients.
const clientSecret = "a secret of the tests"

// world is what all tests share: a provider, and an API server that takes its tokens.
type world struct {
	skip string

	dir    string
	roots  *x509.CertPool
	issuer string
	config *rest.Config
	// grants has a line for each token that the provider was asked for.
	grants *lines
	// free are the listeners that no gateway has taken yet.
	free chan net.Listener
	stop []func() error
}

// shared is what TestMain starts and the tests find: a test has no other way to be handed it.
var shared world

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "windlass-login-")
	if err == nil {
		shared.dir = dir
		err = shared.start()
	}
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	for i := range shared.stop {
		if err := shared.stop[len(shared.stop)-1-i](); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	_ = os.RemoveAll(dir)
	return code
}

// start starts everything, or notes why the tests have to be skipped.
func (w *world) start() error {
	bin := filepath.Join(testkit.Root(), "bin")
	switch {
	case testing.Short():
		w.skip = "needs an API server and an OpenID provider, which -short leaves out"
		return nil
	case missing(filepath.Join(bin, "k8s", "kube-apiserver")):
		w.skip = "needs an API server in bin/k8s: run \"make build\" first"
		return nil
	case missing(filepath.Join(bin, "oidc")):
		w.skip = "needs an OpenID provider in bin/oidc: run \"make bin/oidc\" first"
		return nil
	}
	if err := w.certify(); err != nil {
		return err
	}
	if err := w.provide(filepath.Join(bin, "oidc")); err != nil {
		return err
	}
	return w.serve(filepath.Join(bin, "k8s"))
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// certify writes a certificate for the loopback address that signs itself.
func (w *world) certify() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	w.roots = x509.NewCertPool()
	w.roots.AppendCertsFromPEM(public)
	return errors.Join(os.WriteFile(w.path("cert.pem"), public, 0o600),
		os.WriteFile(w.path("key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
		os.WriteFile(w.path("secret"), []byte(clientSecret+"\n"), 0o600))
}

// provide starts the provider, which ends with its standard input.
func (w *world) provide(program string) error {
	w.free = make(chan net.Listener, gateways)
	var redirect []string
	for range gateways {
		listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // because no test has begun
		if err != nil {
			return err
		}
		w.free <- listener
		redirect = append(redirect, callback(listener))
	}
	command := exec.Command(program, "-cert", w.path("cert.pem"), "-key", w.path("key.pem"), "-redirect", strings.Join(redirect, ",")) //nolint:noctx // because it lives as long as the tests
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	w.stop = append(w.stop, func() error { return errors.Join(in.Close(), command.Wait()) })
	said := bufio.NewScanner(out)
	if !said.Scan() {
		return errors.New("the provider does not start")
	}
	w.issuer, w.grants = said.Text(), &lines{}
	go func() {
		for said.Scan() {
			w.grants.add(said.Text())
		}
	}()
	return nil
}

func callback(listener net.Listener) string {
	return "https://" + listener.Addr().String() + "/v1/session/oidc/callback"
}

// serve starts an API server that takes the tokens that the provider issues for the client "windlass".
func (w *world) serve(assets string) error {
	cert, err := os.ReadFile(w.path("cert.pem"))
	if err != nil {
		return err
	}
	authentication, err := yaml.Marshal(map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration",
		"jwt": []any{map[string]any{
			"issuer":        map[string]any{"url": w.issuer, "certificateAuthority": string(cert), "audiences": []string{"windlass"}},
			"claimMappings": map[string]any{"username": map[string]any{"claim": "sub", "prefix": "oidc:"}},
		}},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(w.path("authentication.yaml"), authentication, 0o600); err != nil {
		return err
	}
	environment := &envtest.Environment{
		BinaryAssetsDirectory: assets, ControlPlaneStopTimeout: 20 * time.Second, ControlPlaneStartTimeout: 2 * time.Minute, ErrorIfCRDPathMissing: true,
		CRDDirectoryPaths: []string{filepath.Join(testkit.Root(), "config", "crd", "bases")}, CRDInstallOptions: envtest.CRDInstallOptions{MaxTime: 2 * time.Minute},
	}
	environment.ControlPlane.GetAPIServer().Configure().Append("authentication-config", w.path("authentication.yaml"))
	w.stop = append(w.stop, environment.Stop)
	w.config, err = environment.Start()
	return err
}

// lines are what a program has said.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

// transport returns the connections of a browser that trusts the certificate.
func (w *world) transport() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: w.roots, MinVersion: tls.VersionTLS12}}
}
