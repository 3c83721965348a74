// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/provision"
)

// Reconciler reconciles Clusters.
type Reconciler struct {
	client      client.Client
	direct      client.Client
	provisioner provision.Provisioner
	prober      *Prober
	recorder    event.Recorder
	now         func() time.Time
	// namespace is where state, logs and kubeconfigs go unless a spec names another.
	namespace string
	// configRoot is the directory that configPath must be in; empty for any.
	configRoot string
}

// Options are what a Reconciler needs besides the API server.
type Options struct {
	Provisioner provision.Provisioner
	Prober      *Prober
	// Namespace is where state, logs and kubeconfigs go unless a spec names another.
	Namespace string
	// ConfigRoot is the directory that configPath must be in; empty for any.
	ConfigRoot string
}

// New returns a Reconciler. Reads of c come from a cache and wait for c's own writes. Secrets and ConfigMaps are read and written with
// direct, one by one, so that no cache holds all Secrets of the cluster.
func New(c, direct client.Client, recorder event.Recorder, now func() time.Time, options Options) *Reconciler {
	return &Reconciler{
		client: c, direct: direct, provisioner: options.Provisioner, prober: options.Prober, recorder: recorder, now: now,
		namespace: options.Namespace, configRoot: options.ConfigRoot,
	}
}

// scope is what one pass over one Cluster knows.
type scope struct {
	// cluster is the object as read; its status becomes what the pass observed.
	cluster *clusterprovisionerv1alpha1.Cluster
	// before is the object as read, for the difference that is written and for the events.
	before *clusterprovisionerv1alpha1.Cluster
	// seen is what was observed; nil until observe has succeeded.
	seen *observation
	// decision is what the pass has to do.
	decision decision
	// credentials are for the run that the pass starts.
	credentials credentials
	// started says that the pass has started a run, finished is the run whose end it has saved.
	started  bool
	finished *provision.Run
	// released says that the object has been let go: there is nothing left to write to.
	released bool
	// events say what the pass did.
	events []event.Event
}

// lookAgain is how often a Cluster that waits for nothing is reconciled: files, Secrets and ConfigMaps are not watched.
const lookAgain = 15 * time.Second

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (result reconcile.Result, err error) {
	var cluster clusterprovisionerv1alpha1.Cluster
	if err := r.client.Get(ctx, req.NamespacedName, &cluster); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if cluster.DeletionTimestamp.IsZero() { // before the first effect outside of the API server
		if _, err := patch.AddFinalizer(ctx, r.client, &cluster, clusterprovisionerv1alpha1.ClusterFinalizer); err != nil {
			return reconcile.Result{}, err
		}
	}
	pass := &scope{cluster: &cluster, before: cluster.DeepCopy()}
	var outcome flow.Outcome
	defer func() {
		outcome = outcome.Join(r.finish(ctx, pass, outcome))
		result, err = outcome.Result()
		if err == nil && result.RequeueAfter == 0 && !pass.released {
			result.RequeueAfter = flow.Jitter(lookAgain)
		}
	}()
	outcome = flow.Run(ctx, pass,
		flow.Phase[*scope]{Name: "observe the cluster", Run: r.observe},
		flow.Phase[*scope]{Name: "plan the cluster", Run: r.decide},
		flow.Phase[*scope]{Name: "read the credentials for the tool", Run: r.observeCredentials},
		flow.Phase[*scope]{Name: "reconcile the cluster", Run: r.act},
	)
	return result, err
}

// finish writes the status if the pass changed it, and then records the events.
func (r *Reconciler) finish(ctx context.Context, pass *scope, outcome flow.Outcome) error {
	if pass.released {
		r.recorder.Record(pass.events...)
		return nil
	}
	describe(pass, outcome, r.now())
	pass.events = append(pass.events, transitions(pass.before, pass.cluster)...)
	if _, err := patch.Status(ctx, r.client, pass.before, pass.cluster); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.recorder.Record(pass.events...)
	return nil
}

// decide is the phase around plan.
func (r *Reconciler) decide(_ context.Context, pass *scope) flow.Outcome {
	pass.decision = plan(pass.cluster, *pass.seen, r.now())
	return flow.Done()
}
