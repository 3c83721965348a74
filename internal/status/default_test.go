// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// byDefault are the conditions that a CRD gives a new object.
func byDefault() []metav1.Condition {
	return []metav1.Condition{{Type: status.Ready, Status: metav1.ConditionUnknown, Reason: status.ReasonNotObserved, LastTransitionTime: metav1.Unix(0, 0)}}
}

// The first report took over the time of the default where Ready stayed Unknown: the condition was said to be so since 1970.
func TestTheTimeOfADefaultIsNotTakenOver(t *testing.T) {
	t.Parallel()
	pool := build.Pool("p").Obj()
	pool.Status.Conditions = byDefault()
	if !status.Unwritten(pool.Status.Conditions) {
		t.Error("the default counts as written")
	}
	declared.Begin().Apply(pool, noon)
	if status.Unwritten(pool.Status.Conditions) {
		t.Error("what was written counts as the default")
	}
	for _, condition := range pool.Status.Conditions {
		if !condition.LastTransitionTime.Time.Equal(noon.Truncate(time.Second)) {
			t.Errorf("%s is %s since %s", condition.Type, condition.Status, condition.LastTransitionTime)
		}
	}
}
