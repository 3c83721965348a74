// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"fmt"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/status"
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

// One machine that hung kept all others from its host, which was said to be down.
func TestMachineThatHangsKeepsOthersFromItsHost(t *testing.T) {
	s := newStage(t, fourCPUs)
	one := s.machine(named("default", "one"), cpus("1"))
	s.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, UID: string(one.UID), Hang: true})
	s.restart()
	s.want(s.machine(named("default", "two"), cpus("3")), active, "Ready=True/Ready")
	s.want(s.machine(named("default", "three"), cpus("1")), waiting, "Ready=False/NoCapacity")
}

// Of a machine without an object that hangs, nobody knows what it takes. Its host is up, and was said to be down, or to be unreachable twice in a sentence.
func TestHostWithAnUnknownMachineIsNotDown(t *testing.T) {
	s := newStage(t, fourCPUs)
	one := s.machine(named("default", "one"), cpus("1"), retain)
	s.remove(one)
	s.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, UID: string(one.UID), Hang: true})
	s.restart()
	two := s.machine(named("default", "two"), cpus("1"))
	s.want(two, waiting, "Ready=False/NoCapacity")
	want := fmt.Sprintf("waiting for a host with room: not enough capacity: host %q does not take machines now "+
		`(machine "one" hangs, so that nobody knows how much room it takes)`, s.name("a"))
	if ready := apimeta.FindStatusCondition(two.Status.Conditions, status.Ready); ready.Message != want {
		t.Errorf("it says %q, want %q", ready.Message, want)
	}
}
