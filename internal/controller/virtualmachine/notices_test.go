// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestNoticesOfAHostWakeWhatWaitsForIt: its machines, and machines without a host where one may be found now.
func TestNoticesOfAHostWakeWhatWaitsForIt(t *testing.T) {
	s := newStage(t, simulated.Script{})
	placed := client.ObjectKeyFromObject(s.machine())
	homeless := client.ObjectKeyFromObject(s.create(func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Name = "homeless" }))
	for kind, both := range map[fleet.NoticeKind]bool{
		fleet.HostUp: true, fleet.HostDown: true, fleet.WatchStarted: false,
	} {
		testkit.Eventually(t, string(kind)+" wakes them", func() bool {
			var woken []types.NamespacedName
			notices := &Notices{
				Client: s.Client, Operations: s.operations, Log: logr.Discard(),
				Wake: func(key types.NamespacedName) { woken = append(woken, key) },
			}
			notices.Notify(t.Context(), fleet.Notice{Host: s.name("a"), Kind: kind})
			return slices.Contains(woken, placed) && slices.Contains(woken, homeless) == both
		})
	}
}
