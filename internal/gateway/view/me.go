// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

// Me is who calls, and in which namespaces they may list something.
type Me struct {
	// User is the name that the API server knows the caller by.
	User string `json:"user" doc:"Name that the API server knows the caller by"`
	// Groups of the caller.
	Groups []string `json:"groups" nullable:"false" doc:"Groups of the caller"`
	// Session is true for a request that acts as the user of the kubeconfig.
	Session bool `json:"session" doc:"Whether the request acts as the user of the kubeconfig that the server was started with"`
	// AllNamespaces is true if the caller may list namespaces.
	AllNamespaces bool `json:"allNamespaces" doc:"Whether the caller may list all namespaces"`
	// Namespaces in which the caller may list something.
	Namespaces []string `json:"namespaces" nullable:"false" doc:"Namespaces in which the caller may list something; empty if allNamespaces is true"`
}
