// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-logr/logr"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/table"
	"github.com/windlass-operator/windlass/internal/gateway/usage"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Options are the parts that an API is made of.
type Options struct {
	// Hub has the objects.
	Hub *feed.Hub
	// Identity says who calls, and Session admits the user of the kubeconfig. Default for Session: nil, which admits nobody.
	Identity *access.Identity
	Session  *access.Session
	// Rights says what a caller may read from the Hub, and Upstream answers everything else.
	Rights   *access.Rights
	Upstream *access.Upstream
	// Limits bounds the requests of a caller, and Streams their streams.
	Limits  *access.Limiter
	Streams *access.Streams
	// Local is true for an API that answers for hosts of the loopback interface only.
	Local bool
	// Timeout bounds every answer that is not a stream.
	Timeout time.Duration
	// Recheck is how often a stream checks its caller's rights, and Heartbeat how often it says that it lives.
	Recheck, Heartbeat time.Duration
	// Silence is how long the API server can take to answer before streams say so.
	Silence time.Duration
	// Usage has what machines and nodes have used.
	Usage *usage.Recorder
	// History has what Usage does not reach back to. Default: nil, where there is no Prometheus.
	History *usage.History
	// Hosts reaches what runs outside of the cluster. Default: nil, for a process that cannot.
	Hosts Hosts
	// Root serves everything outside of the API. Default: nil, which serves a list of links at /.
	Root http.Handler
	// Version is the version in the description of the API.
	Version string
	// ClusterName is what pages call the cluster; empty for no name.
	ClusterName string
	// SystemNamespace is the one that Windlass runs in, which explanations name. Default: that of the manifests.
	SystemNamespace string
	// Now is the clock.
	Now func() time.Time
	// Log gets one line for each write and one for each failure.
	Log logr.Logger
}

// API is the handler of the HTTP API.
type API struct {
	Options

	routes   huma.API
	handler  http.Handler
	encoders *encoders
	// description is what OpenAPI describes, as it is served.
	description []byte
	// stopping is closed when streams have to end.
	stopping chan struct{}
	// surveys are the requests that read all nodes or pods at the same time, lists those that read a list of the API server, and histories those that ask
	// Prometheus.
	surveys, lists, histories *access.Turns
	// bodies are those of requests, and kept is what was read of lists, until the answer is written.
	bodies, kept *access.Budget
	// bodyLimits is how large bodies may be, by the pattern of their route.
	bodyLimits map[string]int
	// sockets are the WebSockets that are open: the server forgets their connections.
	sockets sync.WaitGroup
	// The kinds that apps are made of.
	namespaces, deployments, services *feed.Kind
	// The kinds with routes of their own.
	pods, eventKind, machines, clusters, nodes, pools *feed.Kind
	// printers make the tables of the kinds that have a store.
	printers map[*feed.Kind]*table.Printer
}

// New returns the API.
func New(options Options) (*API, error) {
	a := &API{
		Options: options, encoders: newEncoders(), stopping: make(chan struct{}),
		surveys: access.NewTurns(maxSurveys), lists: access.NewTurns(maxLists), histories: access.NewTurns(usage.HistoriesAtOnce),
		bodies: access.NewBudget(bodiesOfCaller, bodiesOfAll), kept: roomForLists(),
	}
	for plural, into := range map[string]**feed.Kind{
		view.NamespacesPlural: &a.namespaces, view.DeploymentsPlural: &a.deployments, view.ServicesPlural: &a.services,
		view.PodsPlural: &a.pods, view.EventsPlural: &a.eventKind, view.MachinesPlural: &a.machines, view.ClustersPlural: &a.clusters,
		view.NodesPlural: &a.nodes, view.PoolsPlural: &a.pools,
	} {
		*into, _ = a.Hub.Kind(plural) // the table of kinds has them
	}
	var err error
	if a.printers, err = newPrinters(a.Hub.Kinds); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	a.register(mux)
	a.bodyLimits = bodyLimits(a.OpenAPI())
	if a.description, err = document(a.OpenAPI(), a.Hub.Kinds); err != nil {
		return nil, err
	}
	a.handler = a.guard(a.bounded(a.outside(mux)))
	return a, nil
}

// Handler returns the handler of everything.
func (a *API) Handler() http.Handler { return a.handler }

// Description returns the description of the API as it is served.
func (a *API) Description() []byte { return a.description }

// OpenAPI returns the operations of the API, without the schemas of the kinds.
func (a *API) OpenAPI() *huma.OpenAPI { return a.routes.OpenAPI() }

// Stop ends all streams.
func (a *API) Stop() { close(a.stopping) }

// Await waits until all WebSockets are closed, or the context ends.
func (a *API) Await(ctx context.Context) {
	closed := make(chan struct{})
	go func() {
		a.sockets.Wait()
		close(closed)
	}()
	select {
	case <-ctx.Done():
	case <-closed:
	}
}

// register registers all routes.
func (a *API) register(mux *http.ServeMux) {
	config := huma.DefaultConfig("Windlass", a.Version)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", "" // the description is served by us, without links
	config.CreateHooks = nil
	config.Formats = map[string]huma.Format{mediaJSON: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat}
	config.Transformers = []huma.Transformer{transformProblem}
	config.RejectUnknownQueryParameters = true
	config.OnAddOperation = append(config.OnAddOperation, documentOperation)
	describe(config.OpenAPI)
	a.routes = humago.New(mux, config)
	for _, k := range a.Hub.Kinds {
		a.registerReads(k)
		a.registerWrites(k)
	}
	a.registerPods()
	a.registerOwnerLogs()
	a.registerMachines()
	a.registerRuns()
	a.registerUsage()
	a.registerActions()
	a.registerOverview()
	a.registerHosts()
	a.registerWhy()
	a.registerApps()
	a.registerMe()
	a.registerSession()
	a.registerProvider()
	a.registerTables()
	a.registerKinds()
	a.registerWatch()
	schemas := a.OpenAPI().Components.Schemas.Map()
	// What huma would answer errors with; every error is turned into a Problem.
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")
}

// outside returns the handler of the routes and of everything outside of the API.
func (a *API) outside(routes *http.ServeMux) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/v1/", a.authenticate(routes))
	for _, path := range []string{sessionPath, sessionPath + "/"} {
		mux.Handle(path, a.greet(a.unrouted(routes)))
	}
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(a.description)
	})
	if a.Root != nil {
		mux.Handle("/", a.readOnly(a.Root)) // a pattern with a method would conflict with that of the API
	} else {
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaJSON)
			_, _ = w.Write([]byte(`{"links":{"me":"/v1/me","description":"/openapi.json"}}` + "\n"))
		})
	}
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.writeError(w, r, forbidden("CrossOrigin", "The request comes from a page of another origin."))
	}))
	return protection.Handler(a.Session.Begin(a.unrouted(mux)))
}
