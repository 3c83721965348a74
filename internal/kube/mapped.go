// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Unmapped returns those of the kinds that a client made now would not find. A client reads the list of all groups, which the API
// server brings up to date some time after it has begun to serve the kinds of a new CRD.
func Unmapped(config *rest.Config, kinds ...schema.GroupVersionKind) ([]schema.GroupVersionKind, error) {
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for the API server at %s: %w", config.Host, err)
	}
	defer http.CloseIdleConnections()
	mapper, err := apiutil.NewDynamicRESTMapper(config, http)
	if err != nil {
		return nil, err
	}
	var unmapped []schema.GroupVersionKind
	for _, kind := range kinds {
		_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		switch {
		case err == nil:
		case meta.IsNoMatchError(err):
			unmapped = append(unmapped, kind)
		default:
			return nil, err
		}
	}
	return unmapped, nil
}
