// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/api"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/login"
	"github.com/windlass-operator/windlass/internal/gateway/usage"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Options are what a gateway is made of.
type Options struct {
	// Config reaches the cluster: as the gateway's own account, or with Session as the user of a kubeconfig.
	Config *rest.Config
	// Listener accepts connections. The gateway closes it.
	Listener net.Listener
	// CertFile and KeyFile are the certificate and its key, read again when they change. Default: empty, for a certificate that
	// the gateway makes and renews, and whose key stays in memory.
	CertFile, KeyFile string
	// Plaintext serves without TLS. The Listener must be on a loopback address.
	Plaintext bool
	// Session lets requests from this machine that carry the secret of URL act as the user of the kubeconfig. The Listener
	// must be on a loopback address.
	Session bool
	// SessionLifetime is when the session of a browser ends, and SessionIdle when it ends without a request. Default: twelve hours, and
	// one hour.
	SessionLifetime, SessionIdle time.Duration
	// Provider is the OpenID provider where people log in. Default: nil, for none.
	Provider *login.ProviderOptions
	// RequestsPerSecond bounds the requests of one caller; bursts may be five times that. Default: 0, no bound.
	RequestsPerSecond float64
	// ConnectionsPerAddress bounds the connections from one address. Default: 0, no bound.
	ConnectionsPerAddress int
	// StreamsPerCaller bounds the event streams of one caller. Default: 64.
	StreamsPerCaller int
	// RightsTTL is how long an answer about an identity or a right is believed, and how often a stream asks again. Default:
	// ten seconds.
	RightsTTL time.Duration
	// Silence is how long the API server can say nothing before answers and streams say that they may be old. Default: five seconds.
	Silence time.Duration
	// Heartbeat is how often a stream says that it lives. Default: 15 seconds, which the console reckons with.
	Heartbeat time.Duration
	// Timeout bounds every answer that is not a stream. Default: one minute.
	Timeout time.Duration
	// Prometheus has the usage of longer ago than the gateway remembers. Default: nil, for none.
	Prometheus *usage.HistoryOptions
	// Hosts reaches what runs outside of the cluster. Default: nil, for a process that cannot.
	Hosts api.Hosts
	// Root serves everything outside of the API, such as a console. Default: nil, which serves a list of links at /.
	Root http.Handler
	// ClusterName is what pages call the cluster. Default: empty, for no name.
	ClusterName string
	// SystemNamespace is the one that Windlass runs in, which explanations name. Default: that of the manifests.
	SystemNamespace string
	// Namespaces are those of a kubeconfig, which are asked about where namespaces cannot be listed. Default: none.
	Namespaces []string
	// Version is the version in the description of the API.
	Version string
	// Now is the clock.
	Now func() time.Time
	// Log gets one line for each write.
	Log logr.Logger
}

// Gateway serves the HTTP API.
type Gateway struct {
	options Options
	hub     *feed.Hub
	session *access.Session
	usage   *usage.Recorder
	api     *api.API
}

// New returns a gateway that does nothing before Start.
func New(ctx context.Context, options Options) (*Gateway, error) {
	options.RightsTTL = cmp.Or(options.RightsTTL, 10*time.Second)
	options.Heartbeat = cmp.Or(options.Heartbeat, 15*time.Second)
	options.Silence = cmp.Or(options.Silence, 5*time.Second)
	options.Timeout = cmp.Or(options.Timeout, time.Minute)
	options.SessionLifetime = cmp.Or(options.SessionLifetime, 12*time.Hour)
	options.SessionIdle = cmp.Or(options.SessionIdle, time.Hour)
	options.StreamsPerCaller = cmp.Or(options.StreamsPerCaller, 64)
	if options.Plaintext && !access.IsLoopback(options.Listener.Addr().String()) {
		return nil, fmt.Errorf("cannot serve without TLS on %s: not a loopback address", options.Listener.Addr())
	}
	clients, err := kubernetes.NewForConfig(options.Config)
	if err != nil {
		return nil, fmt.Errorf("cannot create a client for reviews: %w", err)
	}
	g := &Gateway{options: options, hub: feed.NewHub(view.Kinds(), options.Now)}
	if options.Session {
		if g.session, err = access.OpenSession(ctx, clients.AuthenticationV1(), options.Listener.Addr(), options.Now); err != nil {
			return nil, err
		}
	}
	machines, _ := g.hub.Kind(view.MachinesPlural) // the table of kinds has both
	nodes, _ := g.hub.Kind(view.NodesPlural)
	g.usage = usage.NewRecorder(usage.Options{
		Machines: machines, Nodes: nodes, Server: clients.Discovery().RESTClient(), Now: options.Now, Log: options.Log,
	})
	if g.api, err = g.assemble(clients); err != nil {
		return nil, err
	}
	return g, nil
}

// assemble puts the parts of the API together.
func (g *Gateway) assemble(clients kubernetes.Interface) (*api.API, error) {
	o := g.options
	_, port, err := net.SplitHostPort(o.Listener.Addr().String())
	if err != nil {
		return nil, fmt.Errorf("cannot read the port of %s: %w", o.Listener.Addr(), err)
	}
	browsers := access.Browsers{Lifetime: o.SessionLifetime, Idle: o.SessionIdle, Port: port, Now: o.Now}
	if o.Provider != nil {
		of := *o.Provider
		of.Now = o.Now
		if browsers.Provider, err = login.NewProvider(of); err != nil {
			return nil, err
		}
	}
	identity, err := access.NewIdentity(clients.AuthenticationV1(), g.session, browsers, o.RightsTTL)
	if err != nil {
		return nil, err
	}
	upstream, err := access.NewUpstream(o.Config)
	if err != nil {
		return nil, err
	}
	var history *usage.History
	if o.Prometheus != nil {
		of := *o.Prometheus
		of.Log = o.Log
		if history, err = usage.NewHistory(of); err != nil {
			return nil, err
		}
	}
	return api.New(api.Options{
		Hub: g.hub, Identity: identity, Session: g.session, Upstream: upstream,
		Rights:  access.NewRights(clients.AuthorizationV1(), o.RightsTTL, view.Kinds(), g.namespaces, o.Now),
		Limits:  access.NewLimiter(o.RequestsPerSecond, int(5*o.RequestsPerSecond)+1, o.Now),
		Streams: access.NewStreams(o.StreamsPerCaller), Local: access.IsLoopback(o.Listener.Addr().String()),
		Timeout: o.Timeout, Recheck: o.RightsTTL, Heartbeat: o.Heartbeat, Silence: o.Silence, Usage: g.usage, History: history, Hosts: o.Hosts,
		Root: o.Root, Version: o.Version, ClusterName: o.ClusterName, SystemNamespace: o.SystemNamespace, Now: o.Now, Log: o.Log,
	})
}

// namespaces returns those that a caller may have rights in: all of them, or where they cannot be listed those that are
// known.
func (g *Gateway) namespaces() []string {
	k, _ := g.hub.Kind(view.NamespacesPlural) // the table of kinds has it
	items, _, ok := k.Store.List()
	if !ok {
		return g.options.Namespaces
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		out = append(out, item.Name)
	}
	return out
}

// URL returns the address of the API. With a session it has the secret, so it is for the user's eyes only.
func (g *Gateway) URL() string {
	if g.session != nil {
		return g.session.URL(g.address())
	}
	return g.address()
}

// BrowserURL returns the address of the API for an argument of a program, which others on this machine can see. With a session
// it has a code that is valid once, for a few seconds.
func (g *Gateway) BrowserURL() string {
	if g.session != nil {
		return g.session.BrowserURL(g.address())
	}
	return g.address()
}

func (g *Gateway) address() string {
	scheme := "https"
	if g.options.Plaintext {
		scheme = "http"
	}
	return scheme + "://" + g.options.Listener.Addr().String() + "/"
}

// OpenAPI returns the description of the API.
func (g *Gateway) OpenAPI() *huma.OpenAPI { return g.api.OpenAPI() }

// Description returns the description of the API as it is served.
func (g *Gateway) Description() []byte { return g.api.Description() }

// Handler returns the handler of everything.
func (g *Gateway) Handler() http.Handler { return g.api.Handler() }

// Ready returns an error until every store is in step with the API server. It implements healthz.Checker.
func (g *Gateway) Ready(*http.Request) error {
	if missing := g.hub.Missing(); len(missing) > 0 {
		return fmt.Errorf("the stores of %s are not filled yet", strings.Join(missing, ", "))
	}
	return nil
}

// Start serves until the context ends, which is not an error. It implements manager.Runnable.
func (g *Gateway) Start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fed := make(chan error, 1)
	go func() { fed <- g.hub.Run(ctx, g.options.Config, g.options.Silence, g.options.Log) }()
	var recording sync.WaitGroup
	recording.Go(func() { g.usage.Run(ctx) })
	err := g.serve(ctx)
	cancel()
	recording.Wait()
	return errors.Join(err, <-fed)
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every instance answers.
func (*Gateway) NeedLeaderElection() bool { return false }
