// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Read reads an object whose name people have given. An object of a name that none can have is not found: clients refuse to ask for
// it, with an error that is not the API server's and never goes away.
func Read(ctx context.Context, from client.Reader, key client.ObjectKey, into client.Object) error {
	for _, segment := range []string{key.Namespace, key.Name} {
		if len(content.IsPathSegmentName(segment)) > 0 {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, key.String())
		}
	}
	return from.Get(ctx, key, into)
}
