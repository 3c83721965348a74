// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Manager is a running "windlass manager".
type Manager struct {
	*Process

	probes string
}

// StartManager starts a manager with a kubeconfig, a log file and more arguments, which may replace the usual ones. It
// runs until End, also if the context ends before.
func (c *Cluster) StartManager(ctx context.Context, kubeconfig, log string, args ...string) (*Manager, error) {
	probes, err := FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	command := c.Command(context.WithoutCancel(ctx), c.Windlass, append([]string{
		"manager", "--kubeconfig", kubeconfig, "--lease-lock-namespace", Namespace,
		"--metrics-bind-address=0", "--health-probe-bind-address", probes,
	}, args...)...)
	command.Dir = c.Dir
	process, err := Start("windlass", log, command)
	if err != nil {
		return nil, err
	}
	return &Manager{Process: process, probes: probes}, nil
}

// Ready waits until the manager says that it is ready, and asks it that often.
func (m *Manager) Ready(ctx context.Context, every time.Duration) error {
	return m.Until(ctx, every, func(ctx context.Context) error { return m.Probe(ctx, "/readyz") })
}

// Probe asks one of the probes of the manager.
func (m *Manager) Probe(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.probes+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", path, response.Status)
	}
	return nil
}

// The ports of FreeAddress are below those of devcluster's clusters and those that systems give to outgoing connections: a connection of another
// program could have such a port before the caller listens.
const (
	firstFreePort = 10000
	lastFreePort  = 19999
)

// FreeAddress returns a loopback address on which nobody listens.
func FreeAddress(ctx context.Context) (string, error) {
	const tries = 100
	var taken error
	for range tries {
		port := firstFreePort + rand.IntN(lastFreePort-firstFreePort+1)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err == nil {
			return address, listener.Close()
		}
		taken = err
	}
	return "", fmt.Errorf("cannot find a free port between %d and %d in %d tries: %w", firstFreePort, lastFreePort, tries, taken)
}
