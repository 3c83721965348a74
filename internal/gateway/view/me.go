// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

// Me is who calls, and where he may see something.
type Me struct {
	// User is the name that the API server knows him by.
	User string `json:"user" doc:"Name that the API server knows the caller by"`
	// Groups he is in.
	Groups []string `json:"groups" doc:"Groups that the caller is in"`
	// Session is true for a request that acts as the kubeconfig.
	Session bool `json:"session" doc:"Whether the request acts as the kubeconfig of whoever started the server"`
	// AllNamespaces is true for who may list namespaces.
	AllNamespaces bool `json:"allNamespaces" doc:"Whether the caller may list all namespaces"`
	// Namespaces that he may list something in.
	Namespaces []string `json:"namespaces" doc:"Namespaces in which the caller may list something; empty if allNamespaces is true"`
}
