// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// configMaps is a backup of ConfigMaps.
func configMaps(namespace string, names ...string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, name := range names {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		object.SetNamespace(namespace)
		object.SetName(name)
		out = append(out, object)
	}
	return out
}

// holderOf returns who holds the Lease.
func holderOf(t *testing.T, h *testkit.Harness, key client.ObjectKey) string {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	h.Get(t, lease)
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// A clock that was 16 seconds ahead took the Lease of every manager for expired.
func TestNothingIsRestoredWhileAManagerRenewsItsLease(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		holder string
		// written is the time that the Lease has, by the clock of the restore.
		written          time.Duration
		renewed, another bool
		want             string
	}{
		"a manager whose clock is behind runs":        {holder: "m", written: -time.Hour, renewed: true, want: "cannot restore while a manager runs"},
		"a manager whose clock is ahead runs":         {holder: "m", written: time.Hour, renewed: true, want: "cannot restore while a manager runs"},
		"a manager runs in another namespace":         {holder: "m", renewed: true, another: true, want: "with --lease-lock-namespace=test-"},
		"another restore runs":                        {holder: holder, renewed: true, want: "cannot restore while another restore runs"},
		"a manager is gone":                           {holder: "m", written: -time.Minute},
		"a manager is gone, and its clock was ahead":  {holder: "m", written: time.Hour},
		"a manager is gone from another namespace":    {holder: "m", another: true},
		"a manager has given the Lease back":          {},
		"a restore was killed before it had released": {holder: holder},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			namespace := h.Namespace(t)
			restorer := newRestorer(h, namespace)
			lease := &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: namespace},
				Spec: coordinationv1.LeaseSpec{
					HolderIdentity: &test.holder, LeaseDurationSeconds: new(int32(15)), RenewTime: new(metav1.NewMicroTime(h.Clock.Now().Add(test.written))),
				},
			}
			if test.another {
				lease.Namespace = h.Namespace(t)
			}
			h.Create(t, lease)
			wait, waited := restorer.After, time.Duration(0)
			restorer.After = func(d time.Duration) <-chan time.Time {
				if waited += d; test.renewed && waited == 3*time.Second {
					testkit.Edit(t, h, lease, func(lease *coordinationv1.Lease) { lease.Spec.RenewTime.Time = lease.Spec.RenewTime.Add(time.Second) })
				}
				return wait(d)
			}
			err := restorer.Restore(t.Context(), configMaps(namespace, "one"))
			made := h.Get(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one"}})
			switch {
			case test.want != "":
				if err == nil || !strings.Contains(err.Error(), test.want) || made {
					t.Errorf("the restore ends with %v, want %q; it has created something: %t", err, test.want, made)
				}
			case err != nil || !made:
				t.Errorf("the restore ends with %v", err)
			case holderOf(t, h, restorer.Lease) != "":
				t.Errorf("%q holds the Lease after the restore", holderOf(t, h, restorer.Lease))
			case test.holder != "" && waited != 15*time.Second:
				t.Errorf("the restore has waited for %s, want as long as the Lease is valid", waited)
			}
		})
	}
}

// taken is a client before whose creations something happens.
type taken struct {
	client.Client

	before func()
}

// Create implements client.Client.
func (c taken) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	if _, restored := object.(*unstructured.Unstructured); restored {
		c.before()
	}
	return c.Client.Create(ctx, object, options...)
}

// The Lease was looked at once, before the first object.
func TestAManagerThatIsStartedMeanwhileWaits(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	namespace := h.Namespace(t)
	restorer := newRestorer(h, namespace)
	var holders []string
	restorer.Client = taken{h.Live, func() {
		holders = append(holders, holderOf(t, h, restorer.Lease))
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: namespace}}
		testkit.Edit(t, h, lease, func(lease *coordinationv1.Lease) { lease.Spec.HolderIdentity = new("manager") })
		h.Clock.Step(renewPeriod)
	}}
	err := restorer.Restore(t.Context(), configMaps(namespace, "one", "two"))
	if want := "another instance has taken the Lease"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the restore ends with %v, want %q", err, want)
	}
	if len(holders) != 1 || holders[0] != holder {
		t.Errorf("when objects were created, the Lease was held by %q, want one object and %q", holders, holder)
	}
	if now := holderOf(t, h, restorer.Lease); now != "manager" {
		t.Errorf("%q holds the Lease, want who has taken it", now)
	}
}
