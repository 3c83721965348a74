// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import "time"

// Login is a session of a browser, or what stands for one.
type Login struct {
	// User and Groups are who the API server knows the caller as.
	User   string   `json:"user" doc:"User that the API server knows the caller as"`
	Groups []string `json:"groups" nullable:"false" doc:"Groups that the API server knows the caller in"`
	// Method is how the caller has logged in.
	Method string `json:"method" enum:"token,oidc,kubeconfig,bearer" doc:"How the caller has logged in: with a token; at the OpenID provider; with the URL of local mode; or not at all, because the request has an Authorization header"`
	// ExpiresAt is when the session ends. Default: empty, for a session without an end.
	ExpiresAt *time.Time `json:"expiresAt,omitempty" doc:"When the session ends. Left out in local mode, and for a request with an Authorization header"`
	// IdleEndsAt is when the session ends unless a request comes before.
	IdleEndsAt *time.Time `json:"idleEndsAt,omitempty" doc:"When the session ends if no request comes before. An open stream is not a request, nor is one with the header Windlass-Unattended. What somebody types into a container or a machine is one"`
	// Cluster is the name that --cluster-name or the kubeconfig gives the cluster. Default: empty, for no name.
	Cluster string `json:"cluster,omitempty" doc:"Name of the cluster, from --cluster-name or the context of the kubeconfig of the server. Left out if it has none"`
}

// LoginMethods are the ways in which a browser can log in.
type LoginMethods struct {
	// Methods of Login.
	Methods []string `json:"methods" enum:"token,oidc" nullable:"false" doc:"token: send one to POST /v1/session. oidc: go to GET /v1/session/oidc"`
}
