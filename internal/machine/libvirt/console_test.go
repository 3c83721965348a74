// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/contract"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// TestConsole types into real guests on QEMU. The mock has no consoles.
func TestConsole(t *testing.T) {
	t.Parallel()
	s := newStage(t, libvirttest.Start(t))
	contract.RunTopic(t, contract.Subject{
		Driver: s.driver,
		Spec: func(id machine.Identity) machine.Spec {
			spec := s.spec(id.Name)
			spec.Identity = id
			return spec
		},
		Patience: bootPatience,
	}, "console")
}
