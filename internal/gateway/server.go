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
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Options are what a gateway is made of.
type Options struct {
	// Config reaches the cluster: as the gateway's own account, or with Session as the user's kubeconfig.
	Config *rest.Config
	// Listener accepts connections. The gateway closes it.
	Listener net.Listener
	// CertFile and KeyFile are the certificate, read again when they change. Default: empty, which serves without TLS.
	CertFile, KeyFile string
	// Session lets requests from this machine that carry the secret of URL act as the kubeconfig. It needs a listener on
	// the loopback address.
	Session bool
	// RequestsPerSecond bounds what one caller may ask; bursts may be five times that. Default: 0, no bound.
	RequestsPerSecond float64
	// StreamsPerCaller bounds the event streams of one caller. Default: 64.
	StreamsPerCaller int
	// RightsTTL is how long an answer about an identity or a right is believed; a stream asks again that often. Default:
	// ten seconds.
	RightsTTL time.Duration
	// Heartbeat is how often a stream says that it lives. Default: 15 seconds.
	Heartbeat time.Duration
	// Timeout is how long an answer may take; streams have none. Default: one minute.
	Timeout time.Duration
	// Root serves everything outside of the API, such as a console. Default: nil, which serves a list of links at /.
	Root http.Handler
	// Namespaces are asked about where namespaces cannot be listed: that of a kubeconfig. Default: none.
	Namespaces []string
	// Version is told in the description of the API.
	Version string
	// Now is the clock.
	Now func() time.Time
	// Log gets one line for each write.
	Log logr.Logger
}

// Gateway is the HTTP API.
type Gateway struct {
	options  Options
	hub      *feed.Hub
	identity *access.Identity
	rights   *access.Rights
	upstream *access.Upstream
	limits   *access.Limiter
	streams  *access.Streams
	api      huma.API
	handler  http.Handler
	session  *access.Session
	// stopping is closed when streams have to end.
	stopping chan struct{}
	// The kinds that apps are made of.
	namespaces, deployments, services *feed.Kind
}

// Bounds of a request.
const (
	maxBody   = 3 << 20 // as the API server has it
	maxHeader = 32 << 10
)

// New returns a gateway that does nothing before Start.
func New(ctx context.Context, options Options) (*Gateway, error) {
	options.RightsTTL = cmp.Or(options.RightsTTL, 10*time.Second)
	options.Heartbeat = cmp.Or(options.Heartbeat, 15*time.Second)
	options.Timeout = cmp.Or(options.Timeout, time.Minute)
	options.StreamsPerCaller = cmp.Or(options.StreamsPerCaller, 64)
	clients, err := kubernetes.NewForConfig(options.Config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for reviews: %w", err)
	}
	g := &Gateway{
		options: options, hub: feed.NewHub(view.Kinds()), stopping: make(chan struct{}),
		limits:  access.NewLimiter(options.RequestsPerSecond, int(5*options.RequestsPerSecond)+1),
		streams: access.NewStreams(options.StreamsPerCaller),
	}
	for plural, into := range map[string]**feed.Kind{
		view.NamespacesPlural: &g.namespaces, view.DeploymentsPlural: &g.deployments, view.ServicesPlural: &g.services,
	} {
		*into, _ = g.hub.Kind(plural) // the table has them
	}
	if options.Session {
		if g.session, err = access.OpenSession(ctx, clients.AuthenticationV1(), options.Listener.Addr()); err != nil {
			return nil, err
		}
	}
	if g.identity, err = access.NewIdentity(clients.AuthenticationV1(), g.session, options.RightsTTL); err != nil {
		return nil, err
	}
	if g.rights, err = access.NewRights(clients.AuthorizationV1(), options.RightsTTL, view.Kinds(), g.candidates, options.Now); err != nil {
		return nil, err
	}
	if g.upstream, err = access.NewUpstream(options.Config); err != nil {
		return nil, err
	}
	if err := g.route(); err != nil {
		return nil, err
	}
	return g, nil
}

// URL returns where the API is; for a session with its secret.
func (g *Gateway) URL() string {
	scheme := "http"
	if g.options.CertFile != "" {
		scheme = "https"
	}
	url := scheme + "://" + g.options.Listener.Addr().String() + "/"
	if g.session != nil {
		return g.session.URL(url)
	}
	return url
}

// OpenAPI returns the description of the API.
func (g *Gateway) OpenAPI() *huma.OpenAPI { return g.api.OpenAPI() }

// Synced reports whether every store is in step.
func (g *Gateway) Synced() bool { return g.hub.Synced() }

// candidates returns the namespaces that a caller may have rights in: all that there are, or those that are known from the
// kubeconfig.
func (g *Gateway) candidates() []string {
	items, _, ok := g.namespaces.Store.List()
	if !ok {
		return g.options.Namespaces
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		out = append(out, item.Name)
	}
	return out
}

// route builds the handler: what is in front of every route, and the routes.
func (g *Gateway) route() error {
	api := http.NewServeMux()
	config := huma.DefaultConfig("Windlass", g.options.Version)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", "" // the description is served below, without links
	config.CreateHooks = nil
	config.Formats = map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat}
	config.Transformers = []huma.Transformer{transformProblem}
	config.RejectUnknownQueryParameters = true
	config.OnAddOperation = append(config.OnAddOperation, documentBody)
	describe(config.OpenAPI)
	g.api = humago.New(api, config)
	g.registerKinds()
	g.registerApps()
	g.registerOthers()

	document, err := Document(g.api.OpenAPI())
	if err != nil {
		return err
	}
	outer := http.NewServeMux()
	outer.Handle("/v1/", g.authenticate(g.unrouted(api)))
	outer.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(document)
	})
	if g.options.Root != nil {
		outer.Handle("/", g.readOnly(g.options.Root)) // with a method in front the pattern would be at odds with that of the API
	} else {
		outer.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"links":{"me":"/v1/me","description":"/openapi.json"}}` + "\n"))
		})
	}
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.writeError(w, r, forbidden("CrossOrigin", "The request comes from a page of another origin."))
	}))
	g.handler = g.guard(protection.Handler(g.session.Begin(g.unrouted(outer))))
	return nil
}

// Handler returns the handler of the whole API.
func (g *Gateway) Handler() http.Handler { return g.handler }

// Start serves until the context ends, which is no error. It implements manager.Runnable.
func (g *Gateway) Start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fed := make(chan error, 1)
	go func() { fed <- g.hub.Run(ctx, g.options.Config, g.options.Log) }()
	err := g.serve(ctx)
	cancel()
	return errors.Join(err, <-fed)
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every instance answers.
func (*Gateway) NeedLeaderElection() bool { return false }
