// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/operation"
)

// stateText is a state as the status spells it.
func stateText(state machine.State) string { return strings.ToLower(string(state)) }

// ending describes how a machine has ended.
func ending(found *machine.Observed) string {
	text := "the machine ended by itself"
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
		memory = resource.NewQuantity(size.MemoryBytes, formatOf(size.MemoryBytes)).String() + " memory"
	}
	if size.RootDiskBytes > 0 {
		return cpu + ", " + memory + " and a root disk of " + resource.NewQuantity(size.RootDiskBytes, formatOf(size.RootDiskBytes)).String()
	}
	return cpu + " and " + memory
}

// formatOf is the format in which a number of bytes is short.
func formatOf(bytes int64) resource.Format {
	if bytes%1024 == 0 {
		return resource.BinarySI
	}
	return resource.DecimalSI
}

// underway completes "waiting for ...".
func underway(op operation.Operation) string {
	switch op.Reason {
	case cloudnativev1alpha1.ReasonProvisioning:
		return "the machine to be created"
	case cloudnativev1alpha1.ReasonStarting:
		return "the machine to be started"
	case cloudnativev1alpha1.ReasonStopping:
		return "the machine to be turned off"
	case cloudnativev1alpha1.ReasonSuspending:
		return "the machine to be suspended"
	case cloudnativev1alpha1.ReasonResuming:
		return "the machine to be resumed"
	case cloudnativev1alpha1.ReasonRestarting:
		return "the machine to be restarted"
	case cloudnativev1alpha1.ReasonReplacing:
		return "the container to be replaced"
	case cloudnativev1alpha1.ReasonResizing:
		return "the machine to be resized to " + sizeText(op.Spec.Resources)
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
