// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission describes the admission policies by which pods choose a pool, and by which the API server keeps pods from a pool.
// No webhook is involved. The package is pure: it returns apply configurations, which controller poolaccess writes.
//
// Two policies serve all pools:
//
//   - "windlass-nodepool-choose" mutates pods and takes the NodePool as its parameter. It gives a pod with the label
//     nodes.lailin.xyz/pool the node selector and the tolerations of the pool. It gives a pod that chooses no pool the default pool
//     of its namespace.
//   - "windlass-nodepool-label" refuses a pod whose label had no effect.
//
// A pool with spec.allowedNamespaces also has a policy of its own, "windlass-nodepool-allowed-<pool>", which refuses pods that choose
// the pool from other namespaces: by name, or by asking for the labels of its nodes while tolerating their taints. It also checks
// changes of pods that have no node yet.
//
// The mutating policy fails open, the validating policies fail closed. A missing default must not keep a pod from starting. A label
// without effect is caught by the policy that checks the result. What is not allowed stays refused even if an expression cannot be
// evaluated. Policies that fail closed have no parameter: an API server does not know custom resources for up to 30 seconds after it
// starts, and a policy with an unknown parameter fails for every pod in the cluster. During that time the API server refuses labels
// and gives no defaults.
//
// The API server calls the bindings of a policy in no particular order, and calls those that it has already called a second time
// after a change. So a default takes two steps. The first step sets only the pool's name, which the pool that is first by name takes
// over from the others. The second step adds node selector and tolerations: the RuntimeClass admission does so, which runs again too,
// or the same binding, because the pod now has the label.
package admission
