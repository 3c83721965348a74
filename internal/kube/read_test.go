// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestWhatNoObjectCanBeCalledIsNotFound asks with a client whose API server is not there: what is not asked for is not found, and anything else
// fails. Without Read, the client itself refuses these names, with an error of its own.
func TestWhatNoObjectCanBeCalledIsNotFound(t *testing.T) {
	t.Parallel()
	mapper := apimeta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), apimeta.RESTScopeNamespace)
	c, err := client.New(&rest.Config{Host: "http://127.0.0.1:1"}, client.Options{Scheme: scheme.Scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	for key, possible := range map[client.ObjectKey]bool{
		{Namespace: "a", Name: "b.c"}:                true,
		{Namespace: "example.com/name", Name: "30s"}: false,
		{Namespace: "a", Name: "../b"}:               false,
		{Namespace: "a", Name: "b%2e"}:               false,
	} {
		if err := Read(t.Context(), c, key, &corev1.Secret{}); err == nil || apierrors.IsNotFound(err) == possible {
			t.Errorf("%s: %v, and an object can be called that: %t", key, err, possible)
		}
		if err := c.Get(t.Context(), key, &corev1.Secret{}); apierrors.IsNotFound(err) {
			t.Errorf("%s: the client alone does so: %v", key, err)
		}
	}
}
