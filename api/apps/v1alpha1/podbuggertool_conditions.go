// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a PodBuggerTool, besides Ready, Reconciling, Stalled and Paused, which every kind has.
const (
	// ConditionInstalled is True when every pod that should have the tool has it.
	ConditionInstalled = "Installed"
	// ConditionLimited is True when maxPods leaves pods out. It does not affect Ready.
	ConditionLimited = "Limited"
)

// Reasons of a PodBuggerTool's conditions and events.
const (
	// ReasonToolInstalled says that every pod that should have the tool has it. It is also the reason of the events, on the tool
	// and on the pod, for an installed container.
	ReasonToolInstalled = "ToolInstalled"
	// ReasonNoPodMatches says that there is no pod to bring the tool to.
	ReasonNoPodMatches = "NoPodMatches"
	// ReasonWaitingForPods says that pods match which do not run yet.
	ReasonWaitingForPods = "WaitingForPods"
	// ReasonInstalling says that pods are still to be given the tool.
	ReasonInstalling = "Installing"
	// ReasonToolRefused says that the API server refused the container: Pod Security, a policy, a missing right, or a target
	// container that the pod does not have. The message has the API server's words.
	ReasonToolRefused = "ToolRefused"
	// ReasonToolFailed says that pods have the container and their nodes cannot run it, as with an image that cannot be pulled.
	ReasonToolFailed = "ToolFailed"
	// ReasonMaxPodsReached says that more pods match than spec.maxPods allows.
	ReasonMaxPodsReached = "MaxPodsReached"
	// ReasonWithinLimit says that spec.maxPods leaves no pod out.
	ReasonWithinLimit = "WithinLimit"
	// ReasonInvalidSelector says that spec.selector is invalid: it has an unknown operator, or values that the operator does not allow.
	ReasonInvalidSelector = "InvalidSelector"
)
