// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/controller/drain"
	"github.com/windlass-operator/windlass/internal/controller/node"
	"github.com/windlass-operator/windlass/internal/controller/nodepool"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/test/console/stage"
)

// rehearsed is a pool with a node for which the controllers run: what they say and do is theirs.
const rehearsed = "rehearsed"

func rehearse(t *testing.T, w *stage.World) {
	t.Helper()
	mine := map[string]string{"stage": rehearsed}
	w.Create(t,
		&nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: rehearsed, Labels: mine}, Spec: nodesv1.NodePoolSpec{Labels: map[string]nodesv1.LabelValue{"example.com/uplink": "lte"}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: rehearsed + "-01", Labels: map[string]string{"stage": rehearsed, nodesv1.RoleLabel(rehearsed): ""}}},
	)
	scheme := kube.NewScheme()
	options := kube.CacheOptions(scheme)
	selector := labels.SelectorFromSet(mine)
	for object, by := range options.ByObject {
		if _, isNode := object.(*corev1.Node); isNode {
			by.Label = selector
			options.ByObject[object] = by
		}
	}
	options.ByObject[&nodesv1.NodePool{}] = cache.ByObject{Label: selector}
	mgr, err := manager.New(w.Config, manager.Options{
		Scheme: scheme, Cache: options, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // -count runs the test again in the same process
	})
	must(t, err)
	consistent := kube.ClientOptions(scheme)
	consistent.Cache.Reader = mgr.GetCache()
	c, err := client.New(w.Config, consistent)
	must(t, err)
	transport, err := rest.HTTPClientFor(w.Config)
	must(t, err)
	evict, err := kube.NewEvict(w.Config, transport)
	must(t, err)
	clearances, drains := &clearance.Clearances{}, &clearance.Drains{}
	must(t, kube.IndexNodes(membership.Concerned)(t.Context(), mgr.GetFieldIndexer()))
	pools := nodepool.New(c, w.Live, w.Events, clearances, drains, w.Clock.Now, "windlass-system")
	must(t, pools.SetupWithManager(t.Context(), mgr, 1))
	must(t, node.New(c, w.Events, clearances, pools, w.Clock.Now).SetupWithManager(t.Context(), mgr, 1))
	must(t, drain.New(c, w.Live, evict, w.Events, drains, w.Clock.Now).SetupWithManager(mgr, 1))
	testkit.Background(t, mgr.Start)
}
