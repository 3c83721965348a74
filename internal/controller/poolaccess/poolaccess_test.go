// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/controller/node"
	"github.com/windlass-operator/windlass/internal/controller/nodepool"
	"github.com/windlass-operator/windlass/internal/controller/poolaccess"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/testkit"
)

const operatorNamespace = "windlass-system"

func TestMain(m *testing.M) { testkit.Main(m) }

// alone is held by the test that has the API server: what pools share is there once for all of them.
var alone sync.Mutex

// cluster is a harness with the controllers that meet in policies and bindings. No other test uses its API server at the same time.
type cluster struct {
	*testkit.Harness

	access *poolaccess.Reconciler
	pools  *nodepool.Reconciler
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	h := testkit.New(t, kube.IndexNodes(membership.Concerned))
	alone.Lock()
	c := &cluster{Harness: h}
	t.Cleanup(func() {
		defer alone.Unlock()
		c.clear(t)
	})
	c.access = poolaccess.New(h.Client, h.Live, operatorNamespace)
	c.pools = nodepool.New(h.Client, h.Live, h.Events, &clearance.Clearances{}, &clearance.Drains{}, h.Clock.Now, operatorNamespace)
	return c
}

// pool creates a pool.
func (c *cluster) pool(t *testing.T, name string, spec nodesv1.NodePoolSpec) *nodesv1.NodePool {
	t.Helper()
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	c.Create(t, pool)
	return pool
}

// clear removes every pool, policy and binding for the next test, whatever became of this one.
func (c *cluster) clear(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // it has ended before the cleanup
	pools := &nodesv1.NodePoolList{}
	must(t, c.Live.List(ctx, pools))
	for i := range pools.Items {
		pool := &pools.Items[i]
		must(t, c.Live.Patch(ctx, pool, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
		must(t, client.IgnoreNotFound(c.Live.Delete(ctx, pool)))
		must(t, client.IgnoreNotFound(c.Live.Delete(ctx, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: pool.Name}})))
	}
	for _, object := range objects(ctx, t, c.Live) {
		must(t, client.IgnoreNotFound(c.Live.Delete(ctx, object)))
	}
}

// converge runs the controllers until they have nothing more to do for the pools.
func (c *cluster) converge(t *testing.T, pools ...*nodesv1.NodePool) {
	t.Helper()
	targets := []testkit.Target{{Reconciler: c.access, Key: poolaccess.SharedKey()}}
	for _, pool := range pools {
		key := client.ObjectKeyFromObject(pool)
		targets = append(targets, testkit.Target{Reconciler: c.access, Key: key}, testkit.Target{Reconciler: c.pools, Key: key})
	}
	c.awaitCache(t)
	c.Converge(t, targets...)
}

// limited returns a configuration with the rights that the operator is shipped with.
func (c *cluster) limited(t *testing.T) *rest.Config {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(testkit.Root(), "config", "rbac", "controllers", "nodepool", "role.yaml"))
	must(t, err)
	role := &rbacv1.ClusterRole{}
	must(t, yaml.UnmarshalStrict(raw, role))
	for _, object := range []client.Object{role, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: role.Name}},
	}} {
		if err := c.Live.Create(t.Context(), object); !apierrors.IsAlreadyExists(err) {
			must(t, err)
		}
	}
	limited := rest.CopyConfig(c.Config)
	limited.Impersonate = rest.ImpersonationConfig{UserName: role.Name}
	reader, err := client.New(limited, client.Options{Scheme: c.Live.Scheme()})
	must(t, err)
	testkit.Eventually(t, "the role is in force", func() bool {
		return reader.List(t.Context(), &nodesv1.NodePoolList{}) == nil
	})
	return limited
}

// start runs the controllers of pools with the rights of the operator. The function that it returns stops them and waits until they
// are at rest.
func (c *cluster) start(t *testing.T) func() {
	t.Helper()
	scheme := kube.NewScheme()
	mgr, err := manager.New(c.limited(t), manager.Options{
		Scheme: scheme,
		Cache:  kube.CacheOptions(scheme),
		NewClient: func(config *rest.Config, options client.Options) (client.Client, error) {
			consistent := kube.ClientOptions(scheme)
			consistent.HTTPClient, consistent.Mapper, consistent.Cache.Reader = options.HTTPClient, options.Mapper, options.Cache.Reader
			return client.New(config, consistent)
		},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	must(t, err)
	ctx := t.Context()
	must(t, kube.IndexNodes(membership.Concerned)(ctx, mgr.GetFieldIndexer()))
	clearances := &clearance.Clearances{}
	pools := nodepool.New(mgr.GetClient(), mgr.GetAPIReader(), c.Events, clearances, &clearance.Drains{}, c.Clock.Now, operatorNamespace)
	must(t, pools.SetupWithManager(ctx, mgr, 4))
	must(t, poolaccess.New(mgr.GetClient(), mgr.GetAPIReader(), operatorNamespace).SetupWithManager(mgr, 4))
	must(t, node.New(mgr.GetClient(), c.Events, clearances, pools, c.Clock.Now).SetupWithManager(ctx, mgr, 4))

	return testkit.Background(t, mgr.Start)
}

// lists returns an empty list of each kind of policy and binding.
func lists() []client.ObjectList {
	return []client.ObjectList{
		&admissionregistrationv1.MutatingAdmissionPolicyList{}, &admissionregistrationv1.MutatingAdmissionPolicyBindingList{},
		&admissionregistrationv1.ValidatingAdmissionPolicyList{}, &admissionregistrationv1.ValidatingAdmissionPolicyBindingList{},
	}
}

// objects returns all policies and bindings of Windlass as the reader has them.
func objects(ctx context.Context, t *testing.T, reader client.Reader) []client.Object {
	t.Helper()
	var found []client.Object
	for _, list := range lists() {
		must(t, reader.List(ctx, list, client.MatchingLabels{admission.LabelManagedBy: admission.ManagedBy}))
		must(t, meta.EachListItem(list, func(item runtime.Object) error {
			object, _ := item.(client.Object)
			found = append(found, object)
			return nil
		}))
	}
	return found
}

// managed returns the names of all policies and bindings of Windlass.
func (c *cluster) managed(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, object := range objects(t.Context(), t, c.Live) {
		names = append(names, object.GetName())
	}
	slices.Sort(names)
	return names
}

// awaitCache waits until the cache has the policies and bindings that the API server has.
func (c *cluster) awaitCache(t *testing.T) {
	t.Helper()
	versions := func(list []client.Object) []string {
		var out []string
		for _, object := range list {
			out = append(out, string(object.GetUID())+" "+object.GetResourceVersion())
		}
		return sorted(out)
	}
	testkit.Eventually(t, "the cache has seen every policy and binding", func() bool {
		return slices.Equal(versions(objects(t.Context(), t, c.Live)), versions(objects(t.Context(), t, c.Client)))
	})
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// restricted returns the spec of a pool that is for some namespaces only, and the default of some.
func restricted() nodesv1.NodePoolSpec {
	team := metav1.LabelSelector{MatchLabels: map[string]string{"team": "ml"}}
	return nodesv1.NodePoolSpec{
		AllowedNamespaces: &nodesv1.AllowedNamespaces{From: nodesv1.NamespacesFromSelector, Selector: &team},
		DefaultFor:        &nodesv1.DefaultFor{NamespaceSelector: team},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
