// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = time.Minute
)

// Backoff returns what says how long an object rests after an error, for controllers whose failures nobody sees but by trying again: a node, and a pod
// that is to be evicted, have no status to read. By default that grows to 17 minutes, and whatever was in the way may be gone for as long.
func Backoff() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry)
}
