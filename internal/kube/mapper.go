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

// NewMapper returns a mapper for clients, and those of the kinds that it does not find. It reads the list of all groups, which the API
// server brings up to date some time after it has begun to serve the kinds of a new CRD. Clients that share the mapper read that
// list once.
func NewMapper(config *rest.Config, kinds ...schema.GroupVersionKind) (meta.RESTMapper, []schema.GroupVersionKind, error) {
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a client for the API server at %s: %w", config.Host, err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, http)
	if err != nil {
		return nil, nil, err
	}
	var unmapped []schema.GroupVersionKind
	for _, kind := range kinds {
		_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		switch {
		case err == nil:
		case meta.IsNoMatchError(err):
			unmapped = append(unmapped, kind)
		default:
			return nil, nil, err
		}
	}
	return mapper, unmapped, nil
}
