// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission says what has to exist in the API server so that pods can choose a pool, and be kept from choosing one,
// without a webhook. It is pure: it returns apply configurations, and the nodepool controller writes them.
//
// Two policies serve all pools. "windlass-nodepool-choose" mutates, with the NodePool itself as its parameter: a pod with the
// label nodes.lailin.xyz/pool gets the pool's node selector and tolerations, and a pod that chooses nothing in a namespace with a
// default pool gets that pool. "windlass-nodepool-label" refuses a pod whose label did not lead to that. A pool that is not for
// everybody has a third one of its own, "windlass-nodepool-allowed-<pool>", which refuses a pod that names it from elsewhere.
//
// The mutating policy fails open and the validating ones fail closed. A default is a convenience and must never be what keeps
// a pod from starting; a label that could not be honoured is caught by the policy that looks for its result; and what is
// not allowed stays so when an expression cannot be evaluated. What fails closed has no parameter, because an API server that
// has just started does not know custom resources for up to half a minute, and a policy with an unknown parameter fails for
// every pod of the cluster. In that half minute, labels are refused and defaults are not given.
//
// The API server calls the bindings of a policy in no particular order, and calls those that it has called once more after
// a change. That is why a default is given in two steps. First comes only the name, which the pool that is first by name takes
// over from another; then, when nobody can take it over any more, the selector and the tolerations: from the RuntimeClass
// admission, which is called again too, and from the same binding, for which the pod has the label now.
package admission
