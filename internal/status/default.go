// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Unwritten reports whether nobody has written the conditions: they are those that the CRD gives every new object, so that it counts as
// not ready for everybody who does not know Windlass.
func Unwritten(conditions []metav1.Condition) bool {
	ready := meta.FindStatusCondition(conditions, Ready)
	return ready != nil && isDefault(ready)
}

// isDefault reports whether the condition is the default of a CRD, which knows no time.
func isDefault(condition *metav1.Condition) bool { return condition.LastTransitionTime.Unix() == 0 }
