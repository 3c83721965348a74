// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"slices"
	"testing"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Queue is the queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// NewQueue returns a queue as controllers have them, which is shut down when the test ends.
func NewQueue(t *testing.T) Queue {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(queue.ShutDown)
	return queue
}

// TakeNames returns the names in the queue, sorted, and takes them out.
func TakeNames(queue Queue) []string {
	var names []string
	for queue.Len() > 0 {
		request, _ := queue.Get()
		queue.Done(request)
		names = append(names, request.Name)
	}
	slices.Sort(names)
	return names
}
