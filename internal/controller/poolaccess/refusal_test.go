// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/controller/poolaccess"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// strict is a client of an API server that refuses to apply objects of one name, as an administrator's own policy may.
type strict struct {
	client.Client

	name string
}

// Apply implements client.Client.
func (s strict) Apply(ctx context.Context, config runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	named, ok := config.(interface{ GetName() *string })
	if ok && *named.GetName() == s.name {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "policies"}, s.name, errors.New("not in this cluster"))
	}
	return s.Client.Apply(ctx, config, options...)
}

func TestRefusedObjects(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		// refused is the name that the API server does not take.
		refused string
		spec    nodesv1.NodePoolSpec
		// stalled is the end of the message of Stalled, empty for a pool that is still Ready.
		stalled string
		class   bool
		objects []string
	}{
		"without the guard, nothing lets pods choose the pool": {
			refused: "windlass-nodepool-allowed-refused", spec: restricted(),
			stalled: "not in this cluster; no effect: spec.allowedNamespaces, spec.defaultFor", objects: shared(),
		},
		"without its default, the pool can be chosen": {
			refused: "windlass-nodepool-default-refused", spec: restricted(), class: true,
			stalled: "not in this cluster; no effect: spec.defaultFor",
			objects: append(shared(), "windlass-nodepool-allowed-refused", "windlass-nodepool-allowed-refused", "windlass-nodepool-label-refused"),
		},
		"without the policy that pools share, a default has no effect": {
			refused: "windlass-nodepool-choose", spec: restricted(), class: true,
			stalled: "not in this cluster; no effect: spec.defaultFor",
			objects: []string{"windlass-nodepool-allowed-refused", "windlass-nodepool-allowed-refused"},
		},
		"a pool whose spec does not count on it is Ready": {
			refused: "windlass-nodepool-label-refused", class: true, objects: shared(),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.access = poolaccess.New(strict{Client: c.Client, name: tc.refused}, c.Live, operatorNamespace)
			pool := c.pool(t, "refused", tc.spec)
			c.converge(t, pool)
			wantCondition(t, c, pool, nodesv1.ConditionAdmissionReady, nodesv1.ReasonAdmissionRefused, "not in this cluster")
			if tc.stalled != "" {
				wantCondition(t, c, pool, status.Stalled, nodesv1.ReasonAdmissionRefused, tc.stalled)
			} else if !meta.IsStatusConditionTrue(pool.Status.Conditions, status.Ready) {
				t.Errorf("the conditions are %+v, want Ready", pool.Status.Conditions)
			}
			if got := c.Get(t, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: pool.Name}}); got != tc.class {
				t.Errorf("there is a RuntimeClass: %t, want %t", got, tc.class)
			}
			if diff := cmp.Diff(sorted(tc.objects), c.managed(t)); diff != "" {
				t.Errorf("the objects (-want +got):\n%s", diff)
			}
			if pool.Status.ObservedGeneration != pool.Generation {
				t.Error("the pool waits for its admission policies")
			}

			must(t, c.Live.Delete(t.Context(), pool))
			c.converge(t, pool)
			if c.Get(t, pool) || len(c.managed(t)) != 0 {
				t.Errorf("the pool is not gone, or %v are left", c.managed(t))
			}
		})
	}
}

func TestRefusalIsForgottenOnceItIsMended(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pool := c.pool(t, "mended", nodesv1.NodePoolSpec{DefaultFor: &nodesv1.DefaultFor{
		NamespaceSelector: metav1.LabelSelector{MatchLabels: map[string]string{"team": "not a label value"}},
	}})
	key := client.ObjectKeyFromObject(pool)
	c.SettleKey(t, c.access, poolaccess.SharedKey())
	if _, err := c.Reconcile(t, c.access, key); err != nil { // every pass tries again, so it does not settle
		t.Fatal(err)
	}
	c.SettleKey(t, c.pools, key)
	wantCondition(t, c, pool, status.Stalled, nodesv1.ReasonAdmissionRefused, "namespaceSelector.matchLabels")
	testkit.Edit(t, c.Harness, pool, func(p *nodesv1.NodePool) {
		p.Spec.DefaultFor.NamespaceSelector.MatchLabels = map[string]string{"team": "ml"}
	})
	c.converge(t, pool)
	wantCondition(t, c, pool, status.Ready, nodesv1.ReasonNoNodes, "no node has the label")
	if len(pool.Annotations) != 0 {
		t.Errorf("the annotations are %v, want none", pool.Annotations)
	}
}

// conflicting is a client whose first patch of a pool meets a conflict.
type conflicting struct {
	client.Client

	met bool
}

// Patch implements client.Client.
func (c *conflicting) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if _, ok := object.(*nodesv1.NodePool); ok && !c.met {
		c.met = true
		return apierrors.NewConflict(schema.GroupResource{Resource: "nodepools"}, object.GetName(), errors.New("try again"))
	}
	return c.Client.Patch(ctx, object, patch, options...)
}

func TestRefusalIsForgottenInSpiteOfAConflict(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pool := c.pool(t, "conflicting", restricted())
	key := client.ObjectKeyFromObject(pool)
	c.access = poolaccess.New(strict{Client: c.Client, name: "windlass-nodepool-default-conflicting"}, c.Live, operatorNamespace)
	c.converge(t, pool)
	wantCondition(t, c, pool, nodesv1.ConditionAdmissionReady, nodesv1.ReasonAdmissionRefused, "not in this cluster")

	c.access = poolaccess.New(&conflicting{Client: c.Client}, c.Live, operatorNamespace)
	if _, err := c.Reconcile(t, c.access, key); !apierrors.IsConflict(err) {
		t.Errorf("the pass ends with %v, want the conflict: nothing else brings the pool back", err)
	}
	c.converge(t, pool)
	wantCondition(t, c, pool, status.Ready, nodesv1.ReasonNoNodes, "no node has the label")
	if len(pool.Annotations) != 0 {
		t.Errorf("the annotations are %v, want none", pool.Annotations)
	}
}

// remembering is a client with the rights of the manager, whose cache still has a policy.
type remembering struct {
	client.Client

	cache  client.Reader
	policy *admissionregistrationv1.MutatingAdmissionPolicy
}

// Get implements client.Client.
func (r remembering) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if policy, ok := object.(*admissionregistrationv1.MutatingAdmissionPolicy); ok {
		r.policy.DeepCopyInto(policy)
		return nil
	}
	return r.cache.Get(ctx, key, object, options...)
}

// The API server refuses a binding with parameters as long as it has no policy for it. The pool used to be Stalled for it, and its
// binding was missing for five minutes.
func TestBindingWaitsForAPolicyThatWasDeletedJustNow(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pool := c.pool(t, "hasty", nodesv1.NodePoolSpec{})
	limited, err := client.New(c.limited(t), client.Options{Scheme: c.Live.Scheme()})
	must(t, err)
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: admission.ChooseRef().Name}}
	access := poolaccess.New(remembering{Client: limited, cache: c.Client, policy: policy}, c.Live, operatorNamespace)
	key := client.ObjectKeyFromObject(pool)

	result, err := c.Reconcile(t, access, key)
	must(t, err)
	if after := result.RequeueAfter; after == 0 || after > 10*time.Second {
		t.Errorf("the controller looks again in %s, want it to do so soon", after)
	}
	c.Get(t, pool)
	if len(pool.Annotations) != 0 {
		t.Errorf("the annotations are %v, want no refusal", pool.Annotations)
	}
	c.converge(t, pool)
	if diff := cmp.Diff(append(shared(), "windlass-nodepool-label-hasty"), c.managed(t)); diff != "" {
		t.Errorf("the objects (-want +got):\n%s", diff)
	}
}

func TestPoolForNoNamespaceIsNotReady(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	spec := restricted()
	spec.AllowedNamespaces.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "not a label value"}}
	pool := c.pool(t, "nobody", spec)
	c.converge(t, pool)
	wantCondition(t, c, pool, status.Stalled, nodesv1.ReasonInvalidSelector, "spec.allowedNamespaces.selector")
	wantCondition(t, c, pool, nodesv1.ConditionAdmissionReady, nodesv1.ReasonInvalidSelector, "no namespace may use the pool")
}

// frozen is a client whose cache still has a pool as it was.
type frozen struct {
	client.Client

	pool *nodesv1.NodePool
}

// Get implements client.Client.
func (f frozen) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if pool, ok := object.(*nodesv1.NodePool); ok {
		f.pool.DeepCopyInto(pool)
		return nil
	}
	return f.Client.Get(ctx, key, object, options...)
}

// List implements client.Client.
func (f frozen) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if pools, ok := list.(*nodesv1.NodePoolList); ok {
		pools.Items = []nodesv1.NodePool{*f.pool.DeepCopy()}
		return nil
	}
	return f.Client.List(ctx, list, options...)
}

// A delete event that arrived after the pool had been let go, or before the cache knew of it, used to bring the policies back.
func TestPoolThatIsGoneIsNotResurrectedFromAnOldCache(t *testing.T) {
	t.Parallel()
	for name, remains := range map[string]bool{"the pool is gone": false, "the pool is being deleted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			pool := c.pool(t, "stale", restricted())
			c.Get(t, pool)
			old := pool.DeepCopy()
			if remains {
				testkit.Edit(t, c.Harness, pool, func(p *nodesv1.NodePool) { p.Finalizers = []string{nodesv1.Finalizer} })
			}
			must(t, c.Live.Delete(t.Context(), pool))
			c.access = poolaccess.New(frozen{Client: c.Client, pool: old}, c.Live, operatorNamespace)
			c.SettleKey(t, c.access, client.ObjectKeyFromObject(pool))
			c.SettleKey(t, c.access, poolaccess.SharedKey())
			if left := c.managed(t); len(left) != 0 {
				t.Errorf("the controller made %v", left)
			}
		})
	}
}
