// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machineusage

import (
	"testing"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
)

// A manager in a Pod, for which nobody has configured a host, had a critical alert for ever: it has no Docker Engine.
func TestAnEngineThatNobodyHasConfiguredIsMissedByNobody(t *testing.T) {
	t.Parallel()
	placed := make([]cloudnativev1alpha1.VirtualMachine, 2)
	placed[1].Status.Server = &cloudnativev1alpha1.Server{Driver: machine.DriverDocker, Host: "default"}
	for name, test := range map[string]struct {
		assumed, answers, answered bool
		objects                    []cloudnativev1alpha1.VirtualMachine
		want                       bool
	}{
		"it has never answered":                    {assumed: true, want: true},
		"it has never answered, and machines wait": {assumed: true, objects: placed[:1], want: true},
		"it answers":                                   {assumed: true, answers: true, answered: true},
		"it has answered":                              {assumed: true, answered: true},
		"it has machines of an earlier manager":        {assumed: true, objects: placed},
		"a configured engine that has never answered":  {},
		"a configured engine that does not answer now": {answered: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := fleet.HostState{Host: machine.Host{Name: "default", Assumed: test.assumed}, Health: fleet.Health{Probed: true}}
			if test.answered {
				state.Health.Info.Driver = machine.DriverDocker
			}
			if !test.answers {
				state.Health.Err = machine.ErrUnreachable
			}
			if got := isMissedByNobody(state, test.objects); got != test.want {
				t.Errorf("nobody misses the host: %t, want %t", got, test.want)
			}
		})
	}
}
