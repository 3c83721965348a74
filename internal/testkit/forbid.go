// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
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

// ReadOnly returns a client that may read what is in the namespace, and not write it: applying and deleting end with the error.
func ReadOnly(c client.Client, namespace string, err error) client.Client {
	return &readOnly{Client: c, namespace: namespace, err: err}
}

type readOnly struct {
	client.Client

	namespace string
	err       error
}

// Apply implements client.Client.
func (r *readOnly) Apply(ctx context.Context, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	if within, ok := object.(interface{ GetNamespace() *string }); ok && within.GetNamespace() != nil && *within.GetNamespace() == r.namespace {
		return r.err
	}
	return r.Client.Apply(ctx, object, options...)
}

// Delete implements client.Client.
func (r *readOnly) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	if object.GetNamespace() == r.namespace {
		return r.err
	}
	return r.Client.Delete(ctx, object, options...)
}

// Unbound is what the API server says to a write in a namespace in which nobody has bound the role for it.
func Unbound(namespace string) error {
	const words = `%s "windlass" cannot patch resource "secrets" in API group "" in the namespace %q`
	return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "access", fmt.Errorf(words, "User", namespace))
}
