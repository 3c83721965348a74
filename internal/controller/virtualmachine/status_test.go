// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
)

func TestPublishedPortsHaveTheirNames(t *testing.T) {
	t.Parallel()
	vm := &cloudnativev1alpha1.VirtualMachine{}
	vm.Spec.Ports = []cloudnativev1alpha1.Port{
		{Name: "dns", Port: 53, Protocol: cloudnativev1alpha1.ProtocolUDP}, {Name: "dns-tcp", Port: 53}, {Port: 80},
	}
	seen := observation{
		at: kube.Placement{Driver: machine.DriverDocker, Host: "rack-1"}, looked: true,
		found: &machine.Observed{Ports: []machine.Port{
			{Port: 53, HostPort: 5300, HostIP: "127.0.0.1", Protocol: machine.TCP},
			{Port: 53, HostPort: 5301, HostIP: "127.0.0.1", Protocol: machine.UDP},
			{Port: 80, HostPort: 8080, HostIP: "127.0.0.1", Protocol: machine.TCP},
		}},
	}
	want := []cloudnativev1alpha1.Port{
		{Name: "dns-tcp", Port: 53, HostPort: 5300, HostIP: "127.0.0.1", Protocol: cloudnativev1alpha1.ProtocolTCP},
		{Name: "dns", Port: 53, HostPort: 5301, HostIP: "127.0.0.1", Protocol: cloudnativev1alpha1.ProtocolUDP},
		{Port: 80, HostPort: 8080, HostIP: "127.0.0.1", Protocol: cloudnativev1alpha1.ProtocolTCP},
	}
	if diff := cmp.Diff(want, serverOf(vm, seen).Ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

func TestNameOfAPortChangesNoMachine(t *testing.T) {
	t.Parallel()
	hash := func(name string) string {
		vm := &cloudnativev1alpha1.VirtualMachine{}
		vm.Spec.Ports = []cloudnativev1alpha1.Port{{Name: name, Port: 80}}
		return specOf(vm, "", machine.DriverDocker, secrets{}).Hash
	}
	if before, after := hash("http"), hash("web"); before != after {
		t.Errorf("the hash of the spec is %s, and %s after a port got another name", before, after)
	}
}
