// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package job provisions clusters by running tools as Jobs of the cluster that Windlass runs in, each in a Pod without a token.
//
// A run is a Secret and a Job in Windlass' namespace:
//
//   - The Secret, one for each cluster, holds what the tool is given: configuration, state, keys. When the run has ended, what it left takes
//     their place.
//   - The Job, named after the run, is the lock: while it exists without a result in the Secret, the cluster has a run under way. A Job that
//     has ended, or is gone, without a result is an interrupted run. The next one waits until its Pod has ended, too.
//
// Runner (runner.go) writes both, in this order, and follows the run (follow.go). In the Pod (pod.go), an init container with Windlass'
// image copies this program and the request into memory. The tool's container starts this program, which takes the request out of the
// file system, has package exec run the tool, and waits. The Pod never asks the API server: Windlass reads how far the run is through
// pods/exec (attach.go), at most maxPacked bytes, stores the result and deletes the Job.
//
// Nothing that comes out of a Pod is believed beyond what concerns its own run (report.go).
package job
