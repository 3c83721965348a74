// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/controller/node"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestANodeDoesNotRestForLongAfterAnOutage(t *testing.T) {
	t.Parallel()
	testkit.CheckOutage(t, func(c client.Client) reconcile.Reconciler {
		return node.New(c, nil, &clearance.Clearances{}, nil, time.Now)
	})
}
