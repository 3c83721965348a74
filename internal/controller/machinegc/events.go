// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machinegc

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/machine"
)

// actionSweep is what Windlass was doing when these events happened.
const actionSweep = "Sweep"

// orphaned reports a machine without an object.
func orphaned(found machine.Observed, host string) event.Event {
	return event.Event{
		Regarding: former(found), Warning: true, Reason: cloudnativev1alpha1.ReasonOrphaned, Action: actionSweep,
		Note: fmt.Sprintf("Found machine %q on host %q, which has no VirtualMachine", found.NativeName, host),
	}
}

// duplicated reports the second machine of an object.
func duplicated(one observed, host string) event.Event {
	object := former(one.Observed)
	object.UID = one.object
	return event.Event{
		Regarding: object, Warning: true, Reason: cloudnativev1alpha1.ReasonDuplicated, Action: actionSweep,
		Note: fmt.Sprintf("Found machine %q on host %q, and the machine of the VirtualMachine is on host %q, which has it, too. Compare the endpoints of both "+
			"in the hosts file: if they lead to one host, name it once, or else remove the machine that is not wanted", one.NativeName, host, one.recorded),
	}
}

// removed reports that an orphan was removed.
func removed(found machine.Observed, host string, grace time.Duration) event.Event {
	return event.Event{
		Regarding: former(found), Reason: cloudnativev1alpha1.ReasonOrphanDeleted, Action: actionSweep,
		Note: fmt.Sprintf("Removed machine %q from host %q, which had no VirtualMachine for %s", found.NativeName, host, grace),
	}
}

// former returns the object that the machine once had: the events are found under its name.
func former(found machine.Observed) *cloudnativev1alpha1.VirtualMachine {
	return &cloudnativev1alpha1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{
		Namespace: found.Namespace, Name: found.Name, UID: types.UID(found.UID),
	}}
}
