// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"testing"

	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// A host that answered everything but a list held up the placement of all machines, for two minutes out of every two and a half.
func TestHostThatCannotListHoldsUpOthers(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{"a": {}, "b": {Faults: []simulated.Fault{{Call: simulated.CallList, Hang: true}}}})
	s.want(s.machine(), active, "Ready=True/Ready")
	if s.count("a") != 1 || len(s.r.surveys.waits()) != 1 {
		t.Errorf("there are %d machines on a, want 1, and %d surveys, want that of b", s.count("a"), len(s.r.surveys.waits()))
	}
	s.want(s.machine(named("default", "another")), active, "Ready=True/Ready")
}
