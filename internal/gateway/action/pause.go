// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/status"
)

// Pause stops Windlass from acting on an object, or lets it go on.
func Pause(of metav1.Object, pause bool) {
	if !pause {
		annotations := of.GetAnnotations()
		delete(annotations, status.PausedAnnotation)
		of.SetAnnotations(annotations)
		return
	}
	annotate(of, status.PausedAnnotation, "true")
}

func annotate(of metav1.Object, key, value string) {
	annotations := of.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	of.SetAnnotations(annotations)
}
