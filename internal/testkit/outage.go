// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// unreadable is a client whose reads fail.
type unreadable struct {
	client.Client

	err error
}

// Get implements client.Client.
func (u *unreadable) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return u.err
}

// CheckOutage checks that a reconciler looks again soon if the API server is away, and backs off if the API server answers with errors.
// Build returns a reconciler that reads through the client.
func CheckOutage(t *testing.T, build func(client.Client) reconcile.Reconciler) {
	t.Helper()
	cases := map[string]struct {
		err      error
		backsOff bool
	}{
		"the API server is away":             {err: syscall.ECONNREFUSED},
		"the API server starts":              {err: apierrors.NewServiceUnavailable("not ready")},
		"the API server answers with errors": {err: apierrors.NewInternalError(errors.New("odd")), backsOff: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := build(&unreadable{err: tc.err}).Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "n"}})
			if backsOff := err != nil; backsOff != tc.backsOff || !backsOff && (result.RequeueAfter <= 0 || result.RequeueAfter > 2*time.Second) {
				t.Errorf("the pass ended with %v and %v", result, err)
			}
		})
	}
}
