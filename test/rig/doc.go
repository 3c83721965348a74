// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rig runs what is shipped against a control plane of its own, for the end-to-end tests and for the bench: a
// Cluster with its directory and its kubeconfigs, the built programs in an environment that nothing of the developer's own
// cluster reaches, a Manager with the rights of its ServiceAccount, and waits for a state.
//
// Nothing in it knows of tests: functions return errors, and every wait ends with its context.
package rig
