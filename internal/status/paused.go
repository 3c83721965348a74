// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import "sigs.k8s.io/controller-runtime/pkg/client"

// PausedAnnotation with the value "true" on an object of Windlass stops Windlass from acting on it. The status is still
// kept up to date, and deletion still works.
const PausedAnnotation = "windlass.io/paused"

// IsPaused reports whether the object is paused.
func IsPaused(obj client.Object) bool { return obj.GetAnnotations()[PausedAnnotation] == "true" }
