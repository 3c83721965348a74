// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Forbid returns a client that may not read what is in the namespace, whether there is any: the API server answers so where no role is bound, and also
// where the namespace is gone with its RoleBindings.
func Forbid(c client.Client, namespace string) client.Client {
	return &forbidding{Client: c, namespace: namespace}
}

type forbidding struct {
	client.Client

	namespace string
}

// Get implements client.Client.
func (f *forbidding) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if key.Namespace == f.namespace {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, key.Name,
			fmt.Errorf("no role is bound in namespace %q", key.Namespace))
	}
	return f.Client.Get(ctx, key, into, options...)
}
