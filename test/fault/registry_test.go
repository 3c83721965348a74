// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net"
	"net/url"
	"testing"
	"time"
)

// at returns these addresses, one after the other, and then the last one for ever.
func at(addresses ...string) func() (string, error) {
	return func() (string, error) {
		now := addresses[0]
		addresses = addresses[min(1, len(addresses)-1):]
		return now, nil
	}
}

// TestVersionsAreAskedForOnANewConnection has an etcd whose first connection says nothing.
func TestVersionsAreAskedForOnANewConnection(t *testing.T) {
	t.Parallel()
	l := startBareLane(t)
	etcd, err := l.registry.address()
	if err != nil {
		t.Fatal(err)
	}
	server, err := url.Parse(etcd)
	if err != nil {
		t.Fatal(err)
	}
	wantVersions(t, at(afterOne(t, server.Host)))
}

// TestVersionsAreAskedForWhereEtcdIsNow has an etcd that was killed and started on another port: a lane that could not find it was given up.
func TestVersionsAreAskedForWhereEtcdIsNow(t *testing.T) {
	t.Parallel()
	l := startBareLane(t)
	etcd, err := l.registry.address()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	wantVersions(t, at(gone, etcd))
}

// wantVersions wants a registry at an address to know the versions of objects.
func wantVersions(t *testing.T, address func() (string, error)) {
	t.Helper()
	r, err := connectRegistry(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.answering = time.Second
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
	if all, err := r.versions(t.Context()); err != nil || len(all) == 0 {
		t.Errorf("%d versions, %v", len(all), err)
	}
}

// afterOne returns an address where the first connection gets no answer, and each later one those of a server.
func afterOne(t *testing.T, server string) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for first := true; ; first = false {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			if !first {
				go forward(t, client, server)
			}
		}
	}()
	return "http://" + listener.Addr().String()
}

// forward connects a client with a server until one of them ends.
func forward(t *testing.T, client net.Conn, address string) {
	t.Helper()
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}
