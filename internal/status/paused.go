// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import "sigs.k8s.io/controller-runtime/pkg/client"

// PausedAnnotation with the value "true" on an object of Windlass stops Windlass from acting on it. Windlass still keeps the
// status up to date, and the object can still be deleted.
const PausedAnnotation = "windlass.io/paused"

// pausedMessage is the message of the condition Paused of every kind.
const pausedMessage = `Windlass does not act on this object while the annotation ` + PausedAnnotation + ` is "true"`

// IsPaused reports whether the object is paused.
func IsPaused(obj client.Object) bool { return obj.GetAnnotations()[PausedAnnotation] == "true" }
