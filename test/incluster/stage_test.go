// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package incluster runs what is shipped where it belongs: the image of make image, as Pods of the shipped manifests, on a real node with
// kubelet, containerd and runc. What a dry run accepts can still not run; here it has to. The node has neither a kube-proxy, whose place a
// forwarder of the test takes, nor a network plugin that enforces NetworkPolicies, which kube-router does here. All of it runs in a network
// namespace of its own, where the machine allows that: nothing leaves it, and the machine's packet filter stays as it is.
package incluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
	"github.com/windlass-operator/windlass/test/rig"
)

const (
	// patience bounds every wait: the machine may be busy with anything.
	patience     = 5 * time.Minute
	pollInterval = 200 * time.Millisecond
	// node is the name of the real node.
	node = "real"
	// simulated is how many nodes there are besides, for the end-to-end tests.
	simulated = 6
	// served is the name in the gateway's certificate.
	served = "windlass-gateway.windlass-system.svc"
)

// stage is a cluster with a real node, and a way to install Windlass there.
type stage struct {
	rig.Cluster

	// t is the test that the cluster is for, of which the steps are parts.
	t       *testing.T
	install way
	// server is the address of the API server, machine that of this machine as pods see it, and port where they reach the API server there.
	server  string
	machine netip.Addr
	port    int
	// authority is that of the gateway's certificate.
	authority *x509.CertPool
	// docker is an engine, nil where none can run, and enginePort the one at which pods reach it.
	docker     *dockertest.Daemon
	enginePort int
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start starts a cluster with a real node that has the images, or skips the test where the machine cannot have one.
func start(t *testing.T, by way) *stage {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a whole cluster, which -short leaves out")
	}
	programs, err := rig.FindPrograms()
	must(t, err)
	packer := filepath.Join(programs.Root, "bin", "release")
	if err := rig.CheckBuilt(programs.Windlass, programs.Devcluster, programs.Kubectl, packer); err != nil {
		t.Skip(err)
	}
	s := &stage{Cluster: rig.Cluster{Programs: programs, Name: "incluster"}, t: t, install: by}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err = s.Up(ctx, "--name", s.Name, "--nodes="+strconv.Itoa(simulated), "--real-node="+node)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := s.Down(ctx); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		if _, reason, refused := strings.Cut(err.Error(), "a real node needs "); refused {
			t.Skipf("a real node needs %s", strings.TrimSpace(reason))
		}
		t.Fatal(err)
	}
	at, err := url.Parse(s.Config.Host)
	must(t, err)
	s.server = at.Host
	s.machine, err = s.gateway()
	must(t, err)
	s.port = s.forward(t, nil, s.toServer)
	s.importImages(t, packer)
	return s
}

// importImages writes the image as make image does, and gives it to the node under two tags, as two versions. An import takes the archive's own
// name from whatever had it, so that name is another.
func (s *stage) importImages(t *testing.T, packer string) {
	t.Helper()
	dir := t.TempDir()
	image, shell := filepath.Join(dir, "windlass"), filepath.Join(dir, "sh")
	pack := exec.CommandContext(t.Context(), packer, "image", "-out", image, "-ref", "packed.invalid/windlass:1", "-licence", filepath.Join(s.Root, "LICENSE"), "-created", "1700000000",
		"linux/"+runtime.GOARCH+"="+s.Windlass)
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("cannot write the image: %v\n%s", err, out)
	}
	probe := filepath.Join(dir, "dial")
	for program, source := range map[string]string{shell: filepath.Join("e2e", "testdata", "sh"), probe: filepath.Join("incluster", "testdata", "dial")} {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", program, filepath.Join(s.Root, "test", source))
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("cannot build %s: %v\n%s", source, err, out)
		}
	}
	for ref, from := range map[string]string{
		"windlass:dev": "--file=" + image + ".tar", "windlass:next": "--file=" + image + ".tar", "busybox:1": "--binary=" + shell, "dial:1": "--binary=" + probe,
	} {
		if done := s.Run(t.Context(), s.Devcluster, "image", "import", "--name", s.Name, "--ref", ref, from); done.Code != 0 {
			t.Fatalf("cannot import the image %s: %s", ref, done.Err)
		}
	}
}

// do runs kubectl as the administrator and returns what it printed.
func (s *stage) do(t *testing.T, args ...string) string {
	t.Helper()
	done := s.Run(t.Context(), s.Kubectl, args...)
	if done.Code != 0 {
		t.Fatalf("kubectl %s: exit code %d: %s", strings.Join(args, " "), done.Code, done.Err)
	}
	return done.Out
}

// apply applies a manifest.
func (s *stage) apply(t *testing.T, manifest string) {
	t.Helper()
	command := s.Command(t.Context(), s.Kubectl, "apply", "--server-side", "-f", "-")
	command.Stdin = strings.NewReader(manifest)
	if done := rig.Finish(command); done.Code != 0 {
		t.Fatalf("kubectl apply: exit code %d: %s\n%s", done.Code, done.Err, manifest)
	}
}

// eventually waits until a check succeeds.
func (s *stage) eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := rig.Until(ctx, pollInterval, check); err != nil {
		t.Fatalf("%s: not so after %s: %v\n%s", what, patience, err, s.evidence(context.WithoutCancel(t.Context())))
	}
}

// evidence is what a person would look at next.
func (s *stage) evidence(ctx context.Context) string {
	var out strings.Builder
	for _, args := range [][]string{
		{"get", "pods", "-A", "-o", "wide"},
		{"get", "events", "-n", rig.Namespace, "--sort-by=.lastTimestamp"},
		{"logs", "-n", rig.Namespace, "--tail=40", "--prefix", "-l", "app.kubernetes.io/name=windlass"},
	} {
		done := s.Run(ctx, s.Kubectl, args...)
		out.WriteString(done.Out + done.Err)
	}
	return out.String()
}

// certificate writes a certificate for a name or an address, which is its own authority, and its key into a folder.
func certificate(t *testing.T, dir, cert, key, name string) {
	t.Helper()
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if address := net.ParseIP(name); address != nil {
		template.IPAddresses, template.DNSNames = []net.IP{address}, nil
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, made.Public(), made)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(made)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, cert), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, key), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}

// trust returns a pool with one authority.
func trust(t *testing.T, path string) *x509.CertPool {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		t.Fatalf("%s is not a certificate", path)
	}
	return pool
}

// secrets makes the Secrets that the manifests name: the certificate of the gateway, and that of a client of the engine.
func (s *stage) secrets(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	certificate(t, dir, "tls.crt", "tls.key", served)
	s.authority = trust(t, in("tls.crt"))
	s.do(t, "create", "secret", "tls", "windlass-gateway-tls", "-n", rig.Namespace, "--cert="+in("tls.crt"), "--key="+in("tls.key"))
	certificate(t, dir, "cert.pem", "key.pem", "windlass")
	certificate(t, dir, "ca.pem", "engine.pem", s.machine.String())
	s.enginePort = s.serveEngine(t, in("ca.pem"), in("engine.pem"), trust(t, in("cert.pem")))
	s.do(t, "create", "secret", "generic", "docker-certs", "-n", rig.Namespace,
		"--from-file="+in("ca.pem"), "--from-file="+in("cert.pem"), "--from-file="+in("key.pem"))
}
