// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"time"

	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/provision/confine"
)

// Reconciler reconciles Kubeconfigs.
type Reconciler struct {
	*flow.Lifecycle[*clusterprovisionerv1alpha1.Kubeconfig, *scope]

	client client.Client
	direct client.Client
	// namespace is where Secrets go unless a spec names another.
	namespace string
	// configRoot is the directory that configPath must be in; empty for any.
	configRoot confine.Root
	subject    string
	// fence wraps the transports to other clusters.
	fence transport.WrapperFunc
	// useless is when a token was last made that its cluster does not accept.
	useless flow.Times
}

// Options are what a Reconciler needs besides the API server.
type Options struct {
	// Namespace is where Secrets go unless a spec names another.
	Namespace string
	// ConfigRoot is the directory that configPath must be in; empty for any.
	ConfigRoot confine.Root
	// Fence wraps the transports to other clusters: an instance that may no longer be the leader changes nothing there. Nil lets everything pass.
	Fence transport.WrapperFunc
	// Subject is this process' account, as "kubectl create rolebinding" takes it.
	Subject string
}

// New returns a Reconciler. Reads of c come from a cache and wait for c's own writes. Secrets are read and written with direct, one by
// one, so that no cache holds all Secrets of the cluster.
func New(c, direct client.Client, recorder event.Recorder, now func() time.Time, options Options) *Reconciler {
	r := &Reconciler{
		client: c, direct: direct, namespace: options.Namespace, configRoot: options.ConfigRoot, subject: options.Subject, fence: options.Fence,
	}
	r.Lifecycle = &flow.Lifecycle[*clusterprovisionerv1alpha1.Kubeconfig, *scope]{
		Client: c, Live: direct, Recorder: recorder, Now: now,
		New:            func() *clusterprovisionerv1alpha1.Kubeconfig { return &clusterprovisionerv1alpha1.Kubeconfig{} },
		Finalizers:     []string{clusterprovisionerv1alpha1.KubeconfigFinalizer},
		NeedsFinalizer: isToken, // before anything is made in the cluster
		Begin:          begin,
		Phases:         r.phases,
		Describe:       describe,
		Announce:       announcements(),
		Forget: func(_ context.Context, key client.ObjectKey) error {
			r.useless.Drop(key)
			return nil
		},
	}
	return r
}

// scope is what one pass over one Kubeconfig knows.
type scope struct {
	*flow.Pass[*clusterprovisionerv1alpha1.Kubeconfig]

	// seen is what was observed; nil until observe has succeeded.
	seen *observation
	// decision is what the pass has to do.
	decision decision
}

// lookAgain is how often a Kubeconfig is reconciled if nothing wakes it: Secrets and files are not watched, and a token that the cluster
// does not accept any more has to be noticed within a minute.
const lookAgain = 45 * time.Second

// begin returns the scope of a pass.
func begin(pass *flow.Pass[*clusterprovisionerv1alpha1.Kubeconfig]) *scope {
	pass.LookAgain(lookAgain)
	return &scope{Pass: pass}
}

// phases returns the steps of a pass. They are the same for a Kubeconfig that is being deleted: the planner decides.
func (r *Reconciler) phases(*scope) []flow.Phase[*scope] {
	return []flow.Phase[*scope]{
		{Name: "observe the kubeconfig", Run: r.observe},
		{Name: "plan the kubeconfig", Run: decide},
		{Name: "issue the kubeconfig", Run: r.act},
	}
}

// decide is the phase around plan.
func decide(_ context.Context, pass *scope) flow.Outcome {
	pass.decision = plan(pass.Object, *pass.seen, pass.Now)
	return flow.Done()
}
