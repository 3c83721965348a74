// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package incluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// gateway returns the machine's address on the links of its pods: the first of their range.
func (s *stage) gateway() (netip.Addr, error) {
	raw, err := os.ReadFile(filepath.Join(s.Dir, "devcluster", "clusters", s.Name, "node", "networks", "10-devcluster.conflist"))
	if err != nil {
		return netip.Addr{}, err
	}
	var config struct {
		Plugins []struct {
			IPAM struct {
				Ranges [][]struct {
					Subnet netip.Prefix `json:"subnet"`
				} `json:"ranges"`
			} `json:"ipam"`
		} `json:"plugins"`
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		return netip.Addr{}, err
	}
	for _, plugin := range config.Plugins {
		for _, ranges := range plugin.IPAM.Ranges {
			return ranges[0].Subnet.Masked().Addr().Next(), nil
		}
	}
	return netip.Addr{}, errors.New("the pods have no range of addresses")
}

// forward listens for pods, and passes their connections on to what listens on the loopback interface only. It is what kube-proxy is
// elsewhere. The address is there only while a pod is, so it is bound before.
//
// With a configuration of TLS the connections from pods are ended here, as an engine does that asks for certificates.
func (s *stage) forward(t *testing.T, config *tls.Config, dial func(ctx context.Context) (net.Conn, error)) (port int) {
	t.Helper()
	listener := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var option error
		err := raw.Control(func(descriptor uintptr) {
			option = syscall.SetsockoptInt(int(descriptor), syscall.SOL_IP, syscall.IP_FREEBIND, 1)
		})
		return errors.Join(err, option)
	}}
	on, err := listener.Listen(t.Context(), "tcp", net.JoinHostPort(s.machine.String(), "0"))
	must(t, err)
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() { stop(); _ = on.Close(); running.Wait() })
	running.Go(func() {
		for {
			from, err := on.Accept()
			if err != nil {
				return
			}
			if config != nil {
				from = tls.Server(from, config)
			}
			running.Go(func() { pass(ctx, from, dial) })
		}
	})
	_, text, err := net.SplitHostPort(on.Addr().String())
	must(t, err)
	port, err = strconv.Atoi(text)
	must(t, err)
	return port
}

// pass connects two ends until one of them has enough, or the test.
func pass(ctx context.Context, from net.Conn, dial func(ctx context.Context) (net.Conn, error)) {
	defer func() { _ = from.Close() }()
	to, err := dial(ctx)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(way[1], way[0])
			ended <- struct{}{}
		}()
	}
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// toServer dials the API server.
func (s *stage) toServer(ctx context.Context) (net.Conn, error) {
	to, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.server)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the API server: %w", err)
	}
	return to, nil
}
