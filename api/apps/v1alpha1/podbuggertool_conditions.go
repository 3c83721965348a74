// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a PodBuggerTool, besides Ready, Reconciling, Stalled and Paused, which every kind has.
const (
	// ConditionInstalled is True when every pod that should have the tool has it.
	ConditionInstalled = "Installed"
	// ConditionLimited is True when maxPods excludes pods. It does not affect Ready.
	ConditionLimited = "Limited"
)

// Reasons of a PodBuggerTool's conditions and events.
const (
	// ReasonToolInstalled says that every pod that should have the tool has it. It is also the reason of the events, on the tool
	// and on the pod, for an installed container.
	ReasonToolInstalled = "ToolInstalled"
	// ReasonNoPodMatches says that no pod matches.
	ReasonNoPodMatches = "NoPodMatches"
	// ReasonWaitingForPods says that some matching pods do not run yet.
	ReasonWaitingForPods = "WaitingForPods"
	// ReasonInstalling says that some pods do not have the tool yet.
	ReasonInstalling = "Installing"
	// ReasonToolRefused says that the API server rejected the container: Pod Security, a policy, a missing permission, or a target
	// container that the pod does not have. The message quotes the API server.
	ReasonToolRefused = "ToolRefused"
	// ReasonToolFailed says that pods have the container but their nodes cannot run it, for example because they cannot pull the image.
	ReasonToolFailed = "ToolFailed"
	// ReasonMaxPodsReached says that more pods match than spec.maxPods allows.
	ReasonMaxPodsReached = "MaxPodsReached"
	// ReasonWithinLimit says that spec.maxPods excludes no pod.
	ReasonWithinLimit = "WithinLimit"
	// ReasonInvalidSelector says that spec.selector is invalid: it has an unknown operator, or values that the operator does not allow.
	ReasonInvalidSelector = "InvalidSelector"
)
