// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/confine"
)

// Reconciler reconciles Clusters.
type Reconciler struct {
	*flow.Lifecycle[*clusterprovisionerv1alpha1.Cluster, *scope]

	client      client.Client
	direct      client.Client
	provisioner provision.Provisioner
	prober      *Prober
	published   published
	// namespace is where state, logs and kubeconfigs go unless a spec names another.
	namespace string
	// configRoot is the directory that configPath must be in; empty for any.
	configRoot confine.Root
	// configNamespaces are those besides namespace that a spec can name Secrets and ConfigMaps in.
	configNamespaces []string
	// provisioners are those that a spec can name.
	provisioners []clusterprovisionerv1alpha1.Provisioner
	subject      string
}

// Options are what a Reconciler needs besides the API server.
type Options struct {
	Provisioner provision.Provisioner
	Prober      *Prober
	// Namespace is where state, logs and kubeconfigs go unless a spec names another.
	Namespace string
	// ConfigRoot is the directory that configPath must be in; empty for any.
	ConfigRoot confine.Root
	// ConfigNamespaces are those besides Namespace that a spec can name Secrets and ConfigMaps in.
	ConfigNamespaces []string
	// Provisioners are those that a spec can name.
	Provisioners []clusterprovisionerv1alpha1.Provisioner
	// Subject is this process' account, as "kubectl create rolebinding" takes it.
	Subject string
}

// New returns a Reconciler. Reads of c come from a cache and wait for c's own writes. Secrets and ConfigMaps are read and written with
// direct, one by one, so that no cache holds all Secrets of the cluster.
func New(c, direct client.Client, recorder event.Recorder, now func() time.Time, options Options) *Reconciler {
	r := &Reconciler{
		client: c, direct: direct, provisioner: options.Provisioner, prober: options.Prober,
		namespace: options.Namespace, configRoot: options.ConfigRoot, configNamespaces: options.ConfigNamespaces,
		provisioners: options.Provisioners, subject: options.Subject,
	}
	r.Lifecycle = &flow.Lifecycle[*clusterprovisionerv1alpha1.Cluster, *scope]{
		Client: c, Live: direct, Recorder: recorder, Now: now,
		New:        func() *clusterprovisionerv1alpha1.Cluster { return &clusterprovisionerv1alpha1.Cluster{} },
		Finalizers: []string{clusterprovisionerv1alpha1.ClusterFinalizer, clusterprovisionerv1alpha1.LegacyFinalizer},
		Begin:      begin,
		Phases:     r.phases,
		Describe:   describe,
		Announce:   announcements(),
		Wrote:      measure,
	}
	return r
}

// scope is what one pass over one Cluster knows.
type scope struct {
	*flow.Pass[*clusterprovisionerv1alpha1.Cluster]

	// seen is what was observed; nil until observe has succeeded.
	seen *observation
	// decision is what the pass has to do.
	decision decision
	// taken says that the file of the run that the pass starts is another Cluster's; nil if it is not.
	taken *refusal
	// credentials are for the run that the pass starts.
	credentials credentials
	// started says that the pass has started a run, finished is the run whose end it has saved.
	started  bool
	finished *provision.Run
}

// lookAgain is how often a Cluster is reconciled if nothing wakes it: files, Secrets and ConfigMaps are not watched.
const lookAgain = 15 * time.Second

// lookForConfig is how often a configuration is looked for that does not exist.
const lookForConfig = 3 * time.Second

// begin returns the scope of a pass.
func begin(pass *flow.Pass[*clusterprovisionerv1alpha1.Cluster]) *scope {
	pass.LookAgain(lookAgain)
	return &scope{Pass: pass}
}

// phases returns the steps of a pass. They are the same for a Cluster that is being deleted: the planner decides.
func (r *Reconciler) phases(*scope) []flow.Phase[*scope] {
	return []flow.Phase[*scope]{
		{Name: "observe the cluster", Run: r.observe},
		{Name: "plan the cluster", Run: decide},
		{Name: "look whose file the tool needs", Run: r.observeFile},
		{Name: "read the credentials for the tool", Run: r.observeCredentials},
		{Name: "reconcile the cluster", Run: r.act},
	}
}

// decide is the phase around plan.
func decide(_ context.Context, pass *scope) flow.Outcome {
	pass.decision = plan(pass.Object, *pass.seen, pass.Now)
	if problem := pass.seen.problem; problem != nil && problem.reason == clusterprovisionerv1alpha1.ReasonConfigNotFound {
		pass.LookAgain(lookForConfig)
	}
	return flow.Done()
}
