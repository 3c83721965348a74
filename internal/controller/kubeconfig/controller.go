// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
)

// Reconciler keeps Kubeconfigs.
type Reconciler struct {
	client   client.Client
	direct   client.Client
	recorder event.Recorder
	now      func() time.Time
	// namespace is where Secrets go unless a spec says otherwise.
	namespace string
	// configRoot is the directory that configPath has to lie in; empty for any.
	configRoot string
}

// New returns a Reconciler. Reads of c come from a cache and wait for c's own writes. Secrets are read and written with direct, one by
// one, so that no cache holds all Secrets of the cluster.
func New(c, direct client.Client, recorder event.Recorder, now func() time.Time, namespace, configRoot string) *Reconciler {
	return &Reconciler{client: c, direct: direct, recorder: recorder, now: now, namespace: namespace, configRoot: configRoot}
}

// scope is what one pass over one Kubeconfig knows.
type scope struct {
	// config is the object as read; its status becomes what the pass observed.
	config *clusterprovisionerv1alpha1.Kubeconfig
	// before is the object as read, for the difference that is written and for the events.
	before *clusterprovisionerv1alpha1.Kubeconfig
	// seen is what was observed, nil until observe has succeeded.
	seen *observation
	// decision is what the pass has to do.
	decision decision
	// gone says that the object has been let go.
	gone bool
}

// lookAgain is how often a Kubeconfig is looked at: Secrets and files are not watched.
const lookAgain = time.Minute

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (result reconcile.Result, err error) {
	var config clusterprovisionerv1alpha1.Kubeconfig
	if err := r.client.Get(ctx, req.NamespacedName, &config); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if config.DeletionTimestamp.IsZero() && isToken(&config) { // before anything is made in the cluster
		if _, err := patch.AddFinalizer(ctx, r.client, &config, clusterprovisionerv1alpha1.KubeconfigFinalizer); err != nil {
			return reconcile.Result{}, err
		}
	}
	pass := &scope{config: &config, before: config.DeepCopy()}
	var outcome flow.Outcome
	defer func() {
		outcome = outcome.Join(r.finish(ctx, pass, outcome))
		result, err = outcome.Result()
		if err == nil && !pass.gone && (result.RequeueAfter == 0 || result.RequeueAfter > lookAgain) {
			result.RequeueAfter = flow.Jitter(lookAgain)
		}
	}()
	outcome = flow.Run(ctx, pass,
		flow.Phase[*scope]{Name: "observe the kubeconfig", Run: r.observe},
		flow.Phase[*scope]{Name: "plan the kubeconfig", Run: r.decide},
		flow.Phase[*scope]{Name: "issue the kubeconfig", Run: r.act},
	)
	return result, err
}

// finish writes the status where the pass changed it, and only then tells the events.
func (r *Reconciler) finish(ctx context.Context, pass *scope, outcome flow.Outcome) error {
	if pass.gone {
		return nil
	}
	describe(pass, outcome, r.now())
	if _, err := patch.Status(ctx, r.client, pass.before, pass.config); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.recorder.Record(transitions(pass.before, pass.config)...)
	return nil
}

// decide is the phase around plan.
func (r *Reconciler) decide(_ context.Context, pass *scope) flow.Outcome {
	pass.decision = plan(pass.config, *pass.seen, r.now())
	return flow.Done()
}

// isToken reports whether the credential is a token that is made in the cluster.
func isToken(config *clusterprovisionerv1alpha1.Kubeconfig) bool {
	return config.Spec.Type == clusterprovisionerv1alpha1.KubeconfigServiceAccountToken
}
