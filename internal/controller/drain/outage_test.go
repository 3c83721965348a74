// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain_test

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-operator/windlass/internal/controller/drain"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestADrainDoesNotRestForLongAfterAnOutage(t *testing.T) {
	t.Parallel()
	testkit.CheckOutage(t, func(c client.Client) reconcile.Reconciler { return drain.New(c, nil, nil, nil, nil, time.Now) })
}
