// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"regexp"
	"sync"

	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// engineProxy stands between a manager and a Docker Engine, and lets the injector carry each request that changes something.
type engineProxy struct {
	server  *httptest.Server
	socket  string
	engine  *dockertest.Daemon
	effects *injector
	forward http.Handler

	mutex sync.Mutex
	// containers are the names of containers by ID: IDs are random, and effects have to have the same name in each run.
	containers map[string]string
}

// newEngineProxy starts a proxy on a socket.
func newEngineProxy(socket string, engine *dockertest.Daemon, effects *injector) (*engineProxy, error) {
	listener, err := net.Listen("unix", socket) //nolint:noctx // because it is a file
	if err != nil {
		return nil, fmt.Errorf("cannot listen for calls of the engine: %w", err)
	}
	p := &engineProxy{socket: socket, engine: engine, effects: effects, containers: map[string]string{}}
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // cut connections are what it is for
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "engine" },
		Transport:     engine.RoundTripper(),
		FlushInterval: -1, // events are sent at once
		ErrorLog:      quiet,
	}
	p.server = httptest.NewUnstartedServer(p)
	_ = p.server.Listener.Close() // of its own, which nobody connects to
	p.server.Listener, p.server.Config.ErrorLog = listener, quiet
	p.server.Start()
	return p, nil
}

// close ends the proxy and all connections.
func (p *engineProxy) close() error {
	p.server.CloseClientConnections()
	p.server.Close()
	if err := os.Remove(p.socket); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// change is what a path of the engine's API does to which container.
var change = regexp.MustCompile(`^(?:/v[0-9.]+)?/(containers|images|volumes|networks)/(?:([^/]+)/)?([^/]+)$`)

// ServeHTTP implements http.Handler.
func (p *engineProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := change.FindStringSubmatch(r.URL.Path)
	if r.Method == http.MethodGet || r.Method == http.MethodHead || parts == nil || parts[3] == "wait" {
		p.forward.ServeHTTP(w, r)
		return
	}
	take(r) // so that it can be sent later
	name, verb := p.name(parts[2]), parts[3]
	switch {
	case r.Method == http.MethodDelete:
		name, verb = p.name(parts[3]), "delete"
	case verb == "create":
		name = r.URL.Query().Get("name") + r.URL.Query().Get("fromImage")
	}
	c := &engineCall{write{proxy: &proxy{forward: p.forward}, w: w, r: r}, p, name}
	p.effects.carry(effect{Verb: verb, Object: onHost("docker", parts[1], name), Path: r.URL.Path}, c)
}

// name returns the name of a container that the manager names by its ID.
func (p *engineProxy) name(id string) string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if name, ok := p.containers[id]; ok {
		return name
	}
	return id
}

// engineCall is a request to the engine, under way.
type engineCall struct {
	write

	engine *engineProxy
	name   string
}

// send implements call, and remembers the ID of a container that it has created.
func (c *engineCall) send() {
	c.write.send()
	var made struct {
		ID string `json:"Id"`
	}
	if json.Unmarshal(c.kept.Body.Bytes(), &made) == nil && made.ID != "" {
		c.engine.mutex.Lock()
		defer c.engine.mutex.Unlock()
		c.engine.containers[made.ID] = c.name
	}
}

// refuse implements call: it answers as an engine does.
func (c *engineCall) refuse(code int) {
	makeUp(c.w, code, map[string]string{"message": fmt.Sprintf("%s: %d", marker, code)})
}

// crash implements hostCall. An engine that does not come back makes all that follows fail.
func (c *engineCall) crash() { _ = c.engine.engine.Crash(context.Background()) }
