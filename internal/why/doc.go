// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package why explains objects from the objects around them. It is pure: it reads no cluster and no clock, and the order of the
// objects does not change its answer.
//
// An Explanation is a list of checks in the order in which an engineer would make them; the first failed one names the cause, proves
// it and says what to do. Pod, Node and Membership look at the objects themselves, and so do Deployment, ReplicaSet, StatefulSet,
// DaemonSet and Job. The kinds of Windlass are explained by the conditions that their controllers have written. PodsMissing gives the
// controller of PodSets the causes that its conditions name.
//
// It names a cause only if the objects prove it. Otherwise it quotes Kubernetes, and callers of PodsMissing fall back to what it says.
package why
