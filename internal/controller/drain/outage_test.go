// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain_test

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

	"github.com/windlass-operator/windlass/internal/controller/drain"
)

// failing is a client that reads nothing.
type failing struct {
	client.Client

	err error
}

// Get implements client.Client.
func (f *failing) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return f.err
}

func TestADrainDoesNotRestForLongAfterAnOutage(t *testing.T) {
	t.Parallel()
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
			r := drain.New(&failing{err: tc.err}, nil, nil, nil, nil, time.Now)
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "n"}})
			if backsOff := err != nil; backsOff != tc.backsOff || !backsOff && (result.RequeueAfter <= 0 || result.RequeueAfter > 2*time.Second) {
				t.Errorf("the pass ended with %v and %v", result, err)
			}
		})
	}
}
