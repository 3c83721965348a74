// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/windlass-operator/windlass/internal/status"
)

// Condition returns what a condition of obj says, as in "False Timeout: it took too long". One without a message is "True Applied", and one
// that does not exist is "absent".
func Condition(obj status.Object, conditionType string) string {
	condition := meta.FindStatusCondition(obj.GetConditions(), conditionType)
	if condition == nil {
		return "absent"
	}
	return strings.TrimSuffix(string(condition.Status)+" "+condition.Reason+": "+condition.Message, ": ")
}

// Reads reports whether what a condition says is as wanted, as a whole. "…" at the end of want leaves out what a tool, the API server or the
// operating system said.
func Reads(got, want string) bool {
	if beginning, open := strings.CutSuffix(want, "…"); open {
		return strings.HasPrefix(got, beginning)
	}
	return got == want
}
