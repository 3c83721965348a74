// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/fence"
	"github.com/windlass-operator/windlass/internal/kube"
)

const (
	// shutdownTimeout is how long running reconciles may take to end; a Pod is killed after 30 s.
	shutdownTimeout = 20 * time.Second
	// startAbort is how long a start can take to notice that it was cancelled.
	startAbort = time.Second
)

// run runs the manager until the context ends, which is not an error, or until an error makes it impossible to continue. It
// calls tell, which may be nil, with the URL of the HTTP API.
func run(
	ctx context.Context, conf *config.Config, log io.Writer, now func() time.Time, tell announce,
) error {
	restConfig, err := restConfig(conf.Kubeconfig, conf.Master)
	if err != nil {
		return err
	}
	conf.Gateway.CallCluster(contextName(conf.Kubeconfig))
	return runOn(ctx, restConfig, contextNamespaces(conf.Kubeconfig), conf, log, now, tell)
}

// runOn runs on a cluster whose kubeconfig names these namespaces.
func runOn(
	ctx context.Context, restConfig *rest.Config, namespaces []string, conf *config.Config, log io.Writer, now func() time.Time, tell announce,
) error {
	if err := checkAddresses(ctx, conf); err != nil {
		return err
	}
	detail, err := newVerbosity(conf.Verbosity)
	if err != nil {
		return err
	}
	logger, silence := newLogger(log, conf, detail)
	defer silence()
	list := enabled(conf.Enabled)
	found, err := preflight(ctx, restConfig, conf, list, logger)
	if err == nil {
		err = makeNamespace(ctx, restConfig, found, conf)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil // a stop during the checks is not a failure
		}
		return err
	}
	stopTraces, err := startTraces(ctx, conf, logger)
	if err != nil {
		return err
	}
	defer stopTraces()
	paceCollector(now)
	ready, leading := &readiness{}, newFence(conf, now)
	mgr, err := newManager(restConfig, found.mapper, conf, logger, detail, ready, leading)
	if err != nil {
		return err
	}
	given := tools{
		workers: conf.Threads, now: now, conf: conf, namespace: conf.OwnNamespace, subject: found.subject, log: logger, leading: leading,
		reach: newReach(mgr.GetClient(), mgr.Elected()), namespaces: namespaces,
	}
	if err := addControllers(ctx, mgr, list, given); err != nil {
		if ctx.Err() != nil {
			return nil // some controllers ask the API server while they are set up: the same holds for them
		}
		return err
	}
	if err := addConditions(mgr, list, given); err != nil {
		return err
	}
	if err := addGateway(ctx, mgr, restConfig, given, tell); err != nil {
		return err
	}
	logger.Info("Starting", "version", version, "server", restConfig.Host, "controllers", names(list),
		"leaderElection", conf.LeaderElect, "identity", conf.HolderIdentity)
	if err := start(ctx, mgr, ready, leading.Deposed()); err != nil {
		return ended(err, conf)
	}
	if conf.LeaderElect {
		if err := release(ctx, restConfig, conf, now); err != nil {
			// The work is done; the next instance merely waits a little.
			logger.Error(err, "Cannot release the Lease")
		}
	}
	return nil
}

func names(list []controller) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.name)
	}
	return out
}

// newManager returns a manager without controllers.
func newManager(
	restConfig *rest.Config, mapper meta.RESTMapper, conf *config.Config, logger logr.Logger, detail *verbosity, ready *readiness, leading *fence.Fence,
) (manager.Manager, error) {
	scheme := kube.NewScheme()
	lock, err := newLock(restConfig, conf)
	if err != nil {
		return nil, err
	}
	lock = &announced{Interface: lock, log: logger}
	fenced := rest.CopyConfig(restConfig)
	if leading != nil {
		lock = leading.Guard(lock)
	}
	wrapWrites(fenced, leading)
	mgr, err := manager.New(fenced, manager.Options{
		Scheme:    scheme,
		Logger:    chatter(logger),
		Cache:     kube.CacheOptions(scheme),
		NewClient: newClient,
		// The preflight has read the list of all groups.
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },

		LeaderElection:                      conf.LeaderElect,
		LeaderElectionID:                    conf.LeaseLockName,
		LeaderElectionNamespace:             conf.LeaseLockNamespace,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true, // safe, because the process ends when the manager does
		LeaseDuration:                       new(leaseDuration),
		RenewDeadline:                       new(renewDeadline),
		RetryPeriod:                         new(retryPeriod),

		Metrics:                 metricsOptions(restConfig, conf, &verbosityHandler{verbosity: detail, log: logger}),
		HealthProbeBindAddress:  conf.HealthProbeBindAddress,
		PprofBindAddress:        conf.PprofBindAddress,
		GracefulShutdownTimeout: new(shutdownTimeout),
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make the manager: %w", err)
	}
	err = errors.Join(
		mgr.Add(ready),
		mgr.AddReadyzCheck("caches", ready.Check),
		mgr.AddHealthzCheck("ping", healthz.Ping),
	)
	if err != nil {
		return nil, fmt.Errorf("cannot set up the health probes: %w", err)
	}
	return mgr, nil
}

// newClient takes the connection and the cache from the manager, and from kube how to read: never from before our own
// writes.
func newClient(restConfig *rest.Config, options client.Options) (client.Client, error) {
	own := kube.ClientOptions(options.Scheme)
	own.HTTPClient, own.Mapper = options.HTTPClient, options.Mapper
	own.Cache.Reader = options.Cache.Reader
	return client.New(restConfig, own)
}

// start runs the manager until its end. An instance that is deposed ends at once: its successor is at work.
func start(ctx context.Context, mgr manager.Manager, ready *readiness, deposed <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()

	select {
	case err := <-done:
		return err
	case <-deposed:
		return errDeposed
	case <-ctx.Done():
	}
	if ready.ready.Load() {
		return <-done
	}
	// While its caches do not sync, controller-runtime does not look at the context. Nothing runs then, so there is nothing
	// to wait for.
	select {
	case err := <-done:
		return err
	case <-time.After(startAbort):
		return nil
	}
}

// ended explains in a sentence why the manager ended by itself.
func ended(err error, conf *config.Config) error {
	if errors.Is(err, errDeposed) || strings.Contains(err.Error(), lostLeadership) {
		return fmt.Errorf("cannot renew the Lease %s/%s in time: this instance stops, "+
			"because another one can take over", conf.LeaseLockNamespace, conf.LeaseLockName)
	}
	return fmt.Errorf("cannot continue: %w", err)
}

// checkAddresses tries the addresses before anything starts, when one that is in use is still one sentence. It listens on all at the same time,
// or one that two flags name would look free to both.
func checkAddresses(ctx context.Context, conf *config.Config) error {
	var errs []error
	held := map[string]net.Listener{} // by flag
	defer func() {
		for _, listener := range held {
			_ = listener.Close()
		}
	}()
	for _, server := range []struct{ flag, address string }{
		{"--metrics-bind-address", conf.MetricsBindAddress},
		{"--health-probe-bind-address", conf.HealthProbeBindAddress},
		{"--pprof-bind-address", conf.PprofBindAddress},
		{conf.Gateway.AddressFlag(), conf.Gateway.BindAddress},
	} {
		if server.address == "0" {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", server.address)
		if err != nil {
			errs = append(errs, fmt.Errorf("cannot listen on %s: %w%s: choose another address with %s, or turn it off with \"0\"",
				server.address, cause(err), holder(held, server.address), server.flag))
			continue
		}
		held[server.flag] = listener
	}
	return errors.Join(errs...)
}

// holder says which flag has an address already, however both are written; nothing if none has.
func holder(held map[string]net.Listener, address string) string {
	wanted, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return ""
	}
	for flag, listener := range held {
		has, ok := listener.Addr().(*net.TCPAddr)
		if ok && has.Port == wanted.Port && (has.IP.Equal(wanted.IP) || has.IP.IsUnspecified() || len(wanted.IP) == 0 || wanted.IP.IsUnspecified()) {
			return " by " + flag
		}
	}
	return ""
}
