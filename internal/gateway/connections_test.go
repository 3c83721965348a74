// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestConnectionsPerAddress opens one connection too many, and again after one has been closed.
func TestConnectionsPerAddress(t *testing.T) {
	t.Parallel()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	listener := bound(inner, 2)
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	dial := func() net.Conn {
		t.Helper()
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	dial()
	first := <-accepted
	dial()
	<-accepted
	if _, err := dial().Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !strings.Contains(fmt.Sprint(err), "reset") {
		t.Errorf("a third connection is not closed: %v", err)
	}
	must(t, first.Close())
	_ = first.Close() // which must not count twice
	dial()
	<-accepted
	if _, err := dial().Read(make([]byte, 1)); err == nil {
		t.Error("a connection that is closed twice makes room for two")
	}
	must(t, inner.Close())
	for range accepted { // until the listener has ended
	}
}

func TestClientOfAConnection(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"10.0.0.1:443": "10.0.0.1", "[::ffff:10.0.0.1]:443": "10.0.0.1", "[2001:db8::1]:443": "2001:db8::/64",
		"[2001:db8::ffff:1%eth0]:443": "2001:db8::/64", "[2001:db8:0:1::1]:443": "2001:db8:0:1::/64",
	} {
		parsed, err := net.ResolveTCPAddr("tcp", address)
		must(t, err)
		if got := origin(parsed); got != want {
			t.Errorf("%s counts for %s, want %s", address, got, want)
		}
	}
}

// TestSlowRequestsAreClosed sends one byte of a body and then nothing. Without credentials such a request was open for as long as
// its sender wanted.
func TestSlowRequestsAreClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, test := range map[string]struct {
		path, token string
		status      int
	}{
		"a body without credentials":          {"/v1/services?ns=default", "", http.StatusUnauthorized},
		"a body with an invented token":       {"/v1/services?ns=default", "invented", http.StatusUnauthorized},
		"a stream without credentials":        {"/v1/watch", "", http.StatusUnauthorized},
		"a body of a caller who may write it": {"/v1/services?ns=default", r.user(t, "", everything()), http.StatusRequestTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", r.g.options.Listener.Addr().String())
			must(t, err)
			defer func() { _ = conn.Close() }()
			must(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
			method := http.MethodPost
			if test.path == "/v1/watch" {
				method = http.MethodGet
			}
			_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
				method, test.path, test.token)
			must(t, err)
			reader := bufio.NewReader(conn)
			response, err := http.ReadResponse(reader, nil)
			must(t, err)
			_, err = io.Copy(io.Discard, response.Body)
			must(t, err)
			must(t, response.Body.Close())
			if response.StatusCode != test.status {
				t.Errorf("status %d, want %d", response.StatusCode, test.status)
			}
			if _, err := reader.ReadByte(); errors.Is(err, io.EOF) || err != nil && strings.Contains(err.Error(), "reset") {
				return
			}
			t.Error("the connection stays open")
		})
	}
}
