// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/placement"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	// hosts returns two engines of 4 CPUs, of which this many thousandths are allocated.
	hosts := func(a, b int64) []placement.Candidate {
		out := []placement.Candidate{{Name: "a", Allocated: placement.Allocation{Resources: machine.Resources{MilliCPU: a}}}}
		out = append(out, placement.Candidate{Name: "b", Allocated: placement.Allocation{Resources: machine.Resources{MilliCPU: b}}})
		for i := range out {
			out[i].Driver, out[i].Capacity = machine.DriverDocker, machine.Resources{MilliCPU: 4000}
		}
		return out
	}
	asks := func(host string, cpu int64) claim {
		return claim{kube.Placement{Driver: machine.DriverDocker, Host: host}, machine.Resources{MilliCPU: cpu}}
	}
	cases := map[string]struct {
		wanted      claim
		hosts       []placement.Candidate
		overcommits map[string]bool
		want        string
		err         error
	}{
		"the host with the most room is chosen":             {wanted: asks("", 1000), hosts: hosts(2000, 0), want: "b"},
		"a host that is named is chosen":                    {wanted: asks("a", 1000), hosts: hosts(2000, 0), want: "a"},
		"a machine that fits nowhere waits":                 {wanted: asks("", 1000), hosts: hosts(4000, 4000), err: machine.ErrNoCapacity},
		"a host that takes more is chosen if none has room": {wanted: asks("", 1000), hosts: hosts(4000, 4000), overcommits: map[string]bool{"b": true}, want: "b"},
		"a host with room comes before one that takes more": {wanted: asks("", 1000), hosts: hosts(3000, 4000), overcommits: map[string]bool{"b": true}, want: "a"},
		"no host takes what it could never run":             {wanted: asks("", 5000), hosts: hosts(0, 0), overcommits: map[string]bool{"b": true}, err: machine.ErrNoCapacity},
		"a host that is not configured is reported":         {wanted: asks("c", 1000), hosts: hosts(0, 0), err: machine.ErrNoHost},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := place("default", tc.wanted, tc.hosts, tc.overcommits)
			want := asks(tc.want, tc.wanted.size.MilliCPU)
			if errors.Is(err, machine.ErrNotAllowed) {
				want = claim{}
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(claim{})); diff != "" || !errors.Is(err, tc.err) {
				t.Errorf("the error is %v, want %v; claim (-want +got):\n%s", err, tc.err, diff)
			}
		})
	}
}

func TestHoldsRoom(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		exists   bool
		failure  string
		strategy cloudnativev1alpha1.RunStrategy
		want     bool
	}{
		"a machine that exists holds room":                       {exists: true, failure: "StartFailed", strategy: cloudnativev1alpha1.RunHalted, want: true},
		"a machine that is being created holds room":             {strategy: cloudnativev1alpha1.RunAlways, want: true},
		"a machine without an image holds none":                  {failure: "ImageNotFound", strategy: cloudnativev1alpha1.RunAlways},
		"a machine that waits for room holds none":               {failure: "NoCapacity", strategy: cloudnativev1alpha1.RunAlways},
		"a lost machine that is created again holds room":        {failure: "InstanceLost", strategy: cloudnativev1alpha1.RunAlways, want: true},
		"a lost machine that is not created again holds no room": {failure: "InstanceLost", strategy: cloudnativev1alpha1.RunOnce},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var failure *cloudnativev1alpha1.StartFailure
			if tc.failure != "" {
				failure = &cloudnativev1alpha1.StartFailure{Count: 1, Reason: tc.failure}
			}
			if got := holdsRoom(tc.exists, failure, tc.strategy); got != tc.want {
				t.Errorf("holds room: %t, want %t", got, tc.want)
			}
		})
	}
}
