// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package incluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/moby/moby/client"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// serveEngine starts an engine that pods reach with a certificate of theirs, as "dockerd --tlsverify" has it. Without one the port is there
// all the same, and the step that needs the engine is skipped.
func (s *stage) serveEngine(t *testing.T, cert, key string, clients *x509.CertPool) (port int) {
	t.Helper()
	own, err := tls.LoadX509KeyPair(cert, key)
	must(t, err)
	if dockertest.Missing() == "" {
		s.docker, err = dockertest.Open(t.Context())
		must(t, err)
		t.Cleanup(func() { _ = s.docker.Close() })
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, MinVersion: tls.VersionTLS12,
	}
	return s.forward(t, config, func(ctx context.Context) (net.Conn, error) {
		if s.docker == nil {
			return nil, errors.New("there is no engine")
		}
		return (&net.Dialer{}).DialContext(ctx, "unix", s.docker.Socket())
	})
}

// machineRuns has the manager make a container on the engine, with the certificates of the Secret, and remove it.
func (s *stage) machineRuns(t *testing.T) {
	t.Helper()
	if s.docker == nil {
		t.Skip("no Docker Engine: " + dockertest.Missing())
	}
	api, err := s.docker.Client()
	must(t, err)
	defer func() { _ = api.Close() }()
	containers := func(ctx context.Context) int {
		found, err := api.ContainerList(ctx, client.ContainerListOptions{All: true})
		if err != nil {
			return -1
		}
		return len(found.Items)
	}
	s.apply(t, `apiVersion: cloudnative.tw/v1alpha1
kind: VirtualMachine
metadata: {name: guest, namespace: default}
spec: {resource: {cpu: 100m, memory: 64Mi}}
`)
	vm, key := &cloudnativev1alpha1.VirtualMachine{}, ctrlclient.ObjectKey{Namespace: "default", Name: "guest"}
	s.eventually(t, "the machine is active", func(ctx context.Context) error {
		if err := s.Client.Get(ctx, key, vm); err != nil {
			return err
		}
		if vm.Status.Phase != cloudnativev1alpha1.PhaseActive || containers(ctx) != 1 {
			return fmt.Errorf("the engine has %d containers, and its status is %+v", containers(ctx), vm.Status)
		}
		return nil
	})
	s.do(t, "delete", "virtualmachine", "guest", "-n", "default", "--wait=false")
	s.eventually(t, "the machine is gone", func(ctx context.Context) error {
		err := s.Client.Get(ctx, key, vm)
		if left := containers(ctx); !apierrors.IsNotFound(err) || left != 0 {
			return fmt.Errorf("the engine has %d containers, and the object is %+v (%w)", left, vm.Status, err)
		}
		return nil
	})
}
