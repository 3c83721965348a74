// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package build builds objects for tests, so that a case of a table says what matters to it and nothing else:
//
//	build.Node("a").Role("gpu").Taint("gpu", "yes", corev1.TaintEffectNoSchedule).Obj()
//	build.Pool("gpu").Label("env", "dev").Finalizer(nodesv1.Finalizer).Obj()
//
// A builder starts from the smallest object that makes sense. Its methods change the object and return the builder; Obj ends
// the chain. With is for the field that no method has, or for a change that a test gives a name of its own.
package build
