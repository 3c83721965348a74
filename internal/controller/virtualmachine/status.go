// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
)

// maxReason bounds status.reason, as its schema says.
const maxReason = 1024

// describe writes what a pass has seen and how it ended into the status.
func describe(pass *scope, outcome flow.Outcome) {
	vm, seen, decided := pass.vm, pass.seen, pass.decision
	vm.Status.Phase = cmp.Or(phaseOf(pass), vm.Status.Phase, cloudnativev1alpha1.PhasePending)
	vm.Status.Server = serverOf(vm.Status.Server, seen)
	if pass.settled {
		vm.Status.StartFailure, vm.Status.Reason = decided.failure, decided.trouble
		if decided.served != nil {
			vm.Status.LastRestartTime = decided.served
		}
		if decided.restarted {
			vm.Status.RestartCount++
		}
	}
	mark(pass, outcome).Apply(vm, pass.now)
	if !equality.Semantic.DeepEqual(pass.before.Status, vm.Status) {
		vm.Status.LastUpdateTime = new(metav1.NewTime(pass.now.Truncate(time.Second)))
	}
}

// phaseOf says in one word how the machine is; empty where the pass does not know better than the one before.
func phaseOf(pass *scope) cloudnativev1alpha1.Phase {
	switch {
	case pass.vm.DeletionTimestamp != nil:
		return cloudnativev1alpha1.PhaseTerminating
	case pass.seen.hostProblem != nil && pass.seen.at.host == "":
		return cloudnativev1alpha1.PhasePending
	case pass.seen.hostProblem != nil:
		return cloudnativev1alpha1.PhaseUnknown
	default:
		return pass.decision.phase
	}
}

// serverOf shows the machine. What cannot be seen now stays as it was; a machine that is gone leaves only where it was.
func serverOf(was *cloudnativev1alpha1.Server, seen observation) *cloudnativev1alpha1.Server {
	if seen.at.host == "" {
		return was
	}
	where := &cloudnativev1alpha1.Server{Driver: cloudnativev1alpha1.Driver(seen.at.driver), Host: seen.at.host}
	if !seen.looked {
		if was == nil {
			return where
		}
		kept := was.DeepCopy()
		kept.Driver, kept.Host = where.Driver, where.Host
		return kept
	}
	found := seen.found
	if found == nil {
		return where
	}
	where.ID, where.Name, where.State = found.ID, found.NativeName, stateText(found.State)
	where.StartedAt = timeOf(found.StartedAt)
	where.ExitCode = found.ExitCode
	addresses := slices.Sorted(slices.Values(found.Addresses))
	where.Addresses = addresses[:min(len(addresses), cloudnativev1alpha1.MaxAddresses)]
	for _, port := range found.Ports[:min(len(found.Ports), cloudnativev1alpha1.MaxPorts)] {
		where.Ports = append(where.Ports, cloudnativev1alpha1.Port{
			Name: port.Name, Port: int32(port.Port), HostPort: int32(port.HostPort), HostIP: port.HostIP,
			Protocol: cloudnativev1alpha1.Protocol(port.Protocol),
		})
	}
	if was != nil && found.State == machine.StateRunning {
		where.Usage = was.Usage // the sampler's
	}
	return where
}

// stateText is a state in the words that the article uses.
func stateText(state machine.State) string { return strings.ToLower(string(state)) }

// timeOf is a time as the API has it, nil for one that is not known.
func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t.Truncate(time.Second)))
}

// clip bounds what the host says.
func clip(text string) string {
	text = strings.ToValidUTF8(text, "")
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason-3], "") + "..."
}

// ending says how a machine has ended.
func ending(found *machine.Observed) string {
	text := "the machine has ended by itself"
	if found.ExitCode != nil {
		text += fmt.Sprintf(" with exit code %d", *found.ExitCode)
	}
	if found.Cause != "" {
		text += ": " + found.Cause
	}
	return text
}

// sizeText is a size in words.
func sizeText(size machine.Resources) string {
	cpu, memory := "unlimited CPU", "unlimited memory"
	if size.MilliCPU > 0 {
		cpu = resource.NewMilliQuantity(size.MilliCPU, resource.DecimalSI).String() + " CPU"
	}
	if size.MemoryBytes > 0 {
		format := resource.DecimalSI
		if size.MemoryBytes%1024 == 0 {
			format = resource.BinarySI
		}
		memory = resource.NewQuantity(size.MemoryBytes, format).String() + " memory"
	}
	return cpu + " and " + memory
}

// underway says what is being waited for.
func underway(op operation) string {
	switch op.reason {
	case cloudnativev1alpha1.ReasonProvisioning:
		return "the machine to be made"
	case cloudnativev1alpha1.ReasonStarting:
		return "the machine to be started"
	case cloudnativev1alpha1.ReasonStopping:
		return "the machine to be turned off"
	case cloudnativev1alpha1.ReasonRestarting:
		return "the machine to be restarted"
	case cloudnativev1alpha1.ReasonReplacing:
		return "the container to be replaced"
	case cloudnativev1alpha1.ReasonResizing:
		return "the machine to be given " + sizeText(op.spec.Resources)
	default:
		return "the machine to be removed"
	}
}

// attempts is a number of failures in words.
func attempts(n int32) string {
	if n == 1 {
		return "1 failure"
	}
	return fmt.Sprintf("%d failures", n)
}
