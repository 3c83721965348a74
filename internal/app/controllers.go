// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/controller/drain"
	"github.com/windlass-operator/windlass/internal/controller/node"
	"github.com/windlass-operator/windlass/internal/controller/nodepool"
	"github.com/windlass-operator/windlass/internal/controller/podbuggertool"
	"github.com/windlass-operator/windlass/internal/controller/podset"
	"github.com/windlass-operator/windlass/internal/controller/poolaccess"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/fence"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
)

// controller is one row of the table of controllers.
type controller struct {
	// name is what --controllers calls it.
	name string
	// reads are the kinds that its caches hold. Their informers are started before leadership is won, so that readiness
	// means something on an instance that waits, and a takeover does not begin with filling caches.
	reads []client.Object
	// add makes the controller and hands it to the manager.
	add func(ctx context.Context, mgr manager.Manager, tools tools) error
}

// tools are what the manager gives to every controller.
type tools struct {
	recorder event.Recorder
	workers  int
	now      func() time.Time
	conf     *config.Config
	// namespace is the one that the manager runs in, empty outside of a cluster.
	namespace string
	// subject is the account of this process, as "kubectl create rolebinding" takes it.
	subject string
	// log takes what happens outside of events.
	log logr.Logger
	// leading says whether this instance may change anything outside of the API server.
	leading *fence.Fence
	// reach is filled with what the HTTP API of this process can reach.
	reach *reach
	// namespaces are those that the kubeconfig names.
	namespaces []string
}

// index is a cache index that several controllers look things up by. One that a single controller uses is its own affair.
type index struct {
	usedBy []string
	add    func(ctx context.Context, indexer client.FieldIndexer) error
}

// controllers is the table of all controllers.
func controllers() []controller {
	return []controller{
		{
			name:  "nodepool",
			reads: []client.Object{&nodesv1.NodePool{}, &corev1.Node{}, &nodev1.RuntimeClass{}},
			add: func(ctx context.Context, mgr manager.Manager, t tools) error {
				// Four controllers under one name: the one of nodes cleans no node before the one of pools has cleared it, the one of
				// drains empties the nodes that leave, and the one of pools makes no pool known before the one of access keeps others
				// from it.
				clearances, drains := &clearance.Clearances{}, &clearance.Drains{}
				evict, err := kube.NewEvict(mgr.GetConfig(), mgr.GetHTTPClient())
				if err != nil {
					return err
				}
				pools := nodepool.New(mgr.GetClient(), mgr.GetAPIReader(), t.recorder, clearances, drains, t.now, t.namespace)
				emptier := drain.New(mgr.GetClient(), mgr.GetAPIReader(), evict, t.recorder, drains, t.now)
				return errors.Join(
					pools.SetupWithManager(ctx, mgr, t.workers),
					node.New(mgr.GetClient(), t.recorder, clearances, pools, t.now).SetupWithManager(ctx, mgr, t.workers),
					emptier.SetupWithManager(mgr, t.workers),
					poolaccess.New(mgr.GetClient(), mgr.GetAPIReader(), t.namespace).SetupWithManager(mgr, t.workers),
				)
			},
		},
		{
			name: "podset",
			reads: []client.Object{
				&appsv1alpha1.PodSet{}, &appsv1.Deployment{}, &policyv1.PodDisruptionBudget{}, &corev1.Pod{}, &corev1.Node{},
				&nodesv1.NodePool{}, podset.NamespaceMetadata(),
			},
			add: func(ctx context.Context, mgr manager.Manager, t tools) error {
				return errors.Join(
					podset.New(mgr.GetClient(), mgr.GetAPIReader(), t.recorder, t.now, t.namespace).SetupWithManager(ctx, mgr, t.workers),
					mgr.Add(kube.Publish("the placement of PodSets", func(ctx context.Context) prometheus.Collector {
						return podset.Placement(ctx, mgr.GetClient(), t.log)
					})),
				)
			},
		},
		{
			name:  "podbuggertool",
			reads: []client.Object{&appsv1alpha1.PodBuggerTool{}},
			add: func(_ context.Context, mgr manager.Manager, t tools) error {
				direct, err := newDirect(mgr)
				if err != nil {
					return err
				}
				pods := podbuggertool.NewPodCaches(mgr.GetConfig(), mgr.GetScheme())
				return podbuggertool.New(mgr.GetClient(), direct, pods, t.recorder, t.now).SetupWithManager(mgr, pods)
			},
		},
		{name: "virtualmachine", reads: []client.Object{&cloudnativev1alpha1.VirtualMachine{}}, add: addMachines},
		{
			name:  "cluster",
			reads: []client.Object{&clusterprovisionerv1alpha1.Cluster{}, &clusterprovisionerv1alpha1.Kubeconfig{}},
			add:   addClusters,
		},
		{
			name:  "kubeconfig",
			reads: []client.Object{&clusterprovisionerv1alpha1.Kubeconfig{}, &clusterprovisionerv1alpha1.Cluster{}},
			add:   func(_ context.Context, mgr manager.Manager, t tools) error { return addKubeconfigs(mgr, t) },
		},
	}
}

// indexes is the table of shared cache indexes: an index can be added to a manager only once, even if several controllers use it.
func indexes() []index {
	return []index{{usedBy: []string{"nodepool", "podset"}, add: kube.IndexNodes(membership.Concerned)}}
}

func controllerNames() []string {
	var names []string
	for _, c := range controllers() {
		names = append(names, c.name)
	}
	return names
}

// enabled returns the controllers that are enabled.
func enabled(isEnabled func(name string) bool) []controller {
	return slices.DeleteFunc(controllers(), func(c controller) bool { return !isEnabled(c.name) })
}

// kinds returns one object of every kind that the controllers read, without repetition.
func kinds(list []controller) []client.Object {
	var out []client.Object
	seen := map[string]bool{}
	for _, c := range list {
		for _, object := range c.reads {
			if name := fmt.Sprintf("%T", object); !seen[name] {
				seen[name] = true
				out = append(out, object)
			}
		}
	}
	return out
}

// addControllers adds the controllers, the indexes that they use and the caches that they read to the manager.
func addControllers(ctx context.Context, mgr manager.Manager, list []controller, given tools) error {
	for _, i := range indexes() {
		used := slices.ContainsFunc(list, func(c controller) bool { return slices.Contains(i.usedBy, c.name) })
		if !used {
			continue
		}
		if err := i.add(ctx, mgr.GetFieldIndexer()); err != nil {
			return fmt.Errorf("cannot index the caches of %v: %w", i.usedBy, err)
		}
	}
	for _, c := range list {
		given.recorder = event.NewRecorder(mgr.GetEventRecorder("windlass-"+c.name), given.log)
		if err := c.add(ctx, mgr, given); err != nil {
			return fmt.Errorf("cannot set up controller %q: %w", c.name, err)
		}
	}
	for _, object := range kinds(list) {
		if _, err := mgr.GetCache().GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("cannot cache %T: %w", object, err)
		}
	}
	return nil
}
