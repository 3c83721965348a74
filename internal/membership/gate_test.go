// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import "testing"

func TestGateOpensOnlyForWhoWasCounted(t *testing.T) {
	t.Parallel()
	gate := &Gate{}
	if gate.Open("p", "a") {
		t.Error("the gate is open before the first census")
	}
	gate.Report("p", []string{"a"}, true)
	if !gate.Open("p", "a") || gate.Open("p", "b") || gate.Open("q", "a") {
		t.Error("the gate is not open for just node a of pool p")
	}
	gate.Report("p", []string{"a", "b", "c"}, false)
	if gate.Open("p", "a") {
		t.Error("the gate is open after a census that closed it")
	}
}
