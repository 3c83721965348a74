// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// What to do about what a preflight finds missing.
const (
	applyCRDs = `apply the CRDs first with "kubectl apply --server-side -k config/crd"`
	applyRBAC = `apply the roles first with "kubectl apply --server-side -k config/rbac"`
)

// explain turns an answer of the API server, or its silence, into a sentence that says what to do.
func explain(restConfig *rest.Config, err error) error {
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server at %s does not accept the credentials: check the user in the kubeconfig",
			restConfig.Host)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the API server at %s refuses what Windlass needs: %w: %s", restConfig.Host, err, applyRBAC)
	}
	if urlError, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the API server at %s cannot be reached: %w: check that the cluster runs and that the kubeconfig "+
			"is for it", restConfig.Host, urlError.Err)
	}
	return fmt.Errorf("the API server at %s cannot be used: %w", restConfig.Host, err)
}
