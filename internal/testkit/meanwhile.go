// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Meanwhile returns a client that calls the function just before it sends something to be applied: what somebody else does between the look and
// the write of a reconciler.
func Meanwhile(c client.Client, do func(runtime.ApplyConfiguration)) client.Client {
	return &meanwhile{Client: c, do: do}
}

type meanwhile struct {
	client.Client

	do func(runtime.ApplyConfiguration)
}

// Apply implements client.Client.
func (m *meanwhile) Apply(ctx context.Context, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	m.do(object)
	return m.Client.Apply(ctx, object, options...)
}
