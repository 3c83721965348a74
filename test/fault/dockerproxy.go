// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
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
	"strings"
	"sync"

	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// engineProxy stands between a manager and a Docker Engine, and lets the injector carry each request that changes something.
type engineProxy struct {
	server  *httptest.Server
	socket  string
	engine  *dockertest.Daemon
	effects *injector
	forward http.Handler
	// changed is called after each request that the engine has followed.
	changed func(ctx context.Context)

	mutex sync.Mutex
	// made are the names of containers and networks by ID: IDs are random, and effects have to have the same name in each run.
	made map[string]string
	// ran are the containers that were started, by ID, and losses is how many of them were removed, by name: what a container has
	// written goes with it.
	ran    map[string]bool
	losses map[string]int
}

// newEngineProxy starts a proxy on a socket.
func newEngineProxy(socket string, engine *dockertest.Daemon, effects *injector) (*engineProxy, error) {
	listener, err := net.Listen("unix", socket) //nolint:noctx // because it is a file
	if err != nil {
		return nil, fmt.Errorf("cannot listen for calls of the engine: %w", err)
	}
	p := &engineProxy{socket: socket, engine: engine, effects: effects, made: map[string]string{}, ran: map[string]bool{}, losses: map[string]int{}}
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // cut connections are what it is for
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "engine" },
		Transport:     engine.RoundTripper(),
		FlushInterval: -1, // events are sent at once
		// An engine that is away does not answer, and so neither does the proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     quiet,
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
	body := take(r) // so that it can be sent later
	name, verb := p.name(r.Context(), parts[2]), parts[3]
	switch {
	case r.Method == http.MethodDelete:
		name, verb = p.name(r.Context(), parts[3]), "delete"
	case verb == "create":
		name = cmp.Or(r.URL.Query().Get("name")+r.URL.Query().Get("fromImage"), nameIn(body))
	}
	c := &engineCall{write{proxy: &proxy{forward: p.forward}, w: w, r: r}, p, withoutUIDs(name), verb, cmp.Or(parts[2], parts[3])}
	p.effects.carry(effect{Verb: verb, Object: onHost("docker", parts[1], c.name), Path: r.URL.Path}, c)
}

// nameIn returns the name that a request has in its body, as one that makes a network.
func nameIn(body []byte) string {
	var named struct {
		Name string `json:"Name"`
	}
	if err := json.Unmarshal(body, &named); err != nil {
		return ""
	}
	return named.Name
}

// temporary is the end of the name of a container that is to replace another one: the beginning of a UID.
var temporary = regexp.MustCompile(`-[0-9a-f]{8}(\.new)?$`)

// withoutUIDs returns the name of a container or a network without the UIDs in it, which differ in each run or on each lane.
func withoutUIDs(name string) string {
	return temporary.ReplaceAllString(uids.ReplaceAllString(name, "<uid>"), "-<uid>$1")
}

// name returns the name of what the manager names by its ID. The proxy does not know the ID of a container that an engine has made whose answer
// was lost in a crash, and asks the engine.
func (p *engineProxy) name(ctx context.Context, id string) string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if name, ok := p.made[id]; ok || !containers.MatchString(id) {
		return cmp.Or(name, id)
	}
	api, err := p.engine.Client()
	if err != nil {
		return id
	}
	defer func() { _ = api.Close() }()
	found, err := api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil { // it is a network, or gone
		return id
	}
	p.made[id] = withoutUIDs(strings.TrimPrefix(found.Container.Name, "/"))
	return p.made[id]
}

// engineCall is a request to the engine, under way.
type engineCall struct {
	write

	engine *engineProxy
	name   string
	// verb is what is done to what has this ID.
	verb, id string
}

// send implements call, and remembers the ID of what it has created.
func (c *engineCall) send() {
	c.write.send()
	if c.kept.Code >= http.StatusMultipleChoices {
		return
	}
	c.engine.note(c)
	if c.engine.changed != nil {
		c.engine.changed(context.WithoutCancel(c.r.Context()))
	}
}

// note remembers what a call has done.
func (p *engineProxy) note(c *engineCall) {
	var made struct {
		ID string `json:"Id"`
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if json.Unmarshal(c.kept.Body.Bytes(), &made) == nil && made.ID != "" {
		p.made[made.ID] = c.name
	}
	switch {
	case c.verb == "rename":
		p.made[c.id] = withoutUIDs(c.r.URL.Query().Get("name"))
	case c.verb == "start":
		p.ran[c.id] = true
	case c.verb == "delete" && p.ran[c.id]:
		p.losses[c.name]++
	}
}

// seeLosses adds to a state how many containers with data are gone: a machine that was made again is there, but has lost what it had written.
func (p *engineProxy) seeLosses(_ context.Context, to state) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for name, count := range p.losses {
		to[lossPrefix+name] = count
	}
	return nil
}

// refuse implements call: it answers as an engine does.
func (c *engineCall) refuse(code int) {
	makeUp(c.w, code, map[string]string{"message": fmt.Sprintf("%s: %d", marker, code)})
}

// crash implements hostCall. An engine that does not come back makes all that follows fail.
func (c *engineCall) crash() { _ = c.engine.engine.Crash(context.Background()) }
