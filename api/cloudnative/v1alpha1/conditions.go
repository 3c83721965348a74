// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Phase says in one word how a machine is.
type Phase string

// The phases of a VirtualMachine.
const (
	// PhasePending says that nothing has been made yet: there is no host for it, or its turn has not come.
	PhasePending Phase = "Pending"
	// PhaseCreating says that the machine is being made or started.
	PhaseCreating Phase = "Creating"
	// PhaseActive says that the machine runs.
	PhaseActive Phase = "Active"
	// PhaseStopped says that the machine is off, and shall be.
	PhaseStopped Phase = "Stopped"
	// PhaseCrashLoopBackOff says that the machine has ended by itself and is started again after a while.
	PhaseCrashLoopBackOff Phase = "CrashLoopBackOff"
	// PhaseImagePullBackOff says that the image cannot be had; fetching it is tried again after a while.
	PhaseImagePullBackOff Phase = "ImagePullBackOff"
	// PhaseFailed says that the machine could not be made or started, or has been lost.
	PhaseFailed Phase = "Failed"
	// PhaseTerminating says that the machine is being removed.
	PhaseTerminating Phase = "Terminating"
	// PhaseUnknown says that the host does not answer.
	PhaseUnknown Phase = "Unknown"
)

// Condition types of a VirtualMachine, besides Ready, Reconciling, Stalled and Paused, which every kind has.
const (
	// ConditionDriverReady is True when the host of the machine is configured and answers.
	ConditionDriverReady = "DriverReady"
	// ConditionImageReady is True when what the machine is made from is there.
	ConditionImageReady = "ImageReady"
	// ConditionProvisioned is True when the machine exists on its host.
	ConditionProvisioned = "Provisioned"
	// ConditionPowerSynced is True when the machine runs, or is off, as runStrategy wants it.
	ConditionPowerSynced = "PowerSynced"
	// ConditionResourcesSynced is True when the machine has the size that spec.resource says.
	ConditionResourcesSynced = "ResourcesSynced"
	// ConditionRestartRequired is True when a change of the spec takes effect with the next start only.
	ConditionRestartRequired = "RestartRequired"
	// ConditionSoftwareEmulation is True when the host runs guests without the help of its processor. It is absent while
	// nothing is known of the host, and does not decide Ready.
	ConditionSoftwareEmulation = "SoftwareEmulation"
)

// Reasons of conditions that are as they should be.
const (
	// ReasonDriverReady says that the host answers.
	ReasonDriverReady = "DriverReady"
	// ReasonImageReady says that the image is there.
	ReasonImageReady = "ImageReady"
	// ReasonProvisioned says that the machine exists.
	ReasonProvisioned = "Provisioned"
	// ReasonRunning says that the machine runs.
	ReasonRunning = "Running"
	// ReasonStopped says that the machine is off.
	ReasonStopped = "Stopped"
	// ReasonCompleted says that the machine has ended in order and is not started again.
	ReasonCompleted = "Completed"
	// ReasonResourcesSynced says that the machine has the size that the spec says.
	ReasonResourcesSynced = "ResourcesSynced"
	// ReasonUpToDate says that no change waits for a restart.
	ReasonUpToDate = "UpToDate"
	// ReasonAccelerated says that the processor helps to run guests, or that there is no guest.
	ReasonAccelerated = "Accelerated"
	// ReasonEmulated says that the host emulates the guest's processor, which is slow.
	ReasonEmulated = "Emulated"
)

// Reasons of a machine that is on its way, and of the events that tell of steps.
const (
	// ReasonPending says that there is no machine so far.
	ReasonPending = "Pending"
	// ReasonProvisioning says that the image is being fetched or the machine is being made.
	ReasonProvisioning = "Provisioning"
	// ReasonStarting says that the machine is being started.
	ReasonStarting = "Starting"
	// ReasonStopping says that the machine is being turned off.
	ReasonStopping = "Stopping"
	// ReasonRestarting says that the machine is being restarted, as spec.restartAt or a change of the spec asks for.
	ReasonRestarting = "Restarting"
	// ReasonResizing says that the machine is being given another size.
	ReasonResizing = "Resizing"
	// ReasonReplacing says that the container is being replaced by one that the changed spec describes.
	ReasonReplacing = "Replacing"
	// ReasonDeleting says that the machine is being removed.
	ReasonDeleting = "Deleting"
	// ReasonHeld says that somebody has suspended the machine on its host.
	ReasonHeld = "Held"
	// ReasonCreated is the reason of the event for a machine that has been made.
	ReasonCreated = "Created"
	// ReasonAdopted is the reason of the event for a machine that was there already and is this object's.
	ReasonAdopted = "Adopted"
	// ReasonStarted is the reason of the event for a machine that has been started.
	ReasonStarted = "Started"
	// ReasonRestarted is the reason of the event for a machine that has been restarted.
	ReasonRestarted = "Restarted"
	// ReasonResized is the reason of the event for a machine that has another size.
	ReasonResized = "Resized"
	// ReasonReplaced is the reason of the event for a container that has been replaced.
	ReasonReplaced = "Replaced"
	// ReasonDeleted is the reason of the event for a machine that has been removed.
	ReasonDeleted = "Deleted"
	// ReasonRetained is the reason of the event for a machine that stays although its object goes.
	ReasonRetained = "Retained"
)

// Reasons of a machine that is not as it should be, and of the events that tell of it.
const (
	// ReasonDriverUnreachable says that the host does not answer. Nothing is done to its machines until it does.
	ReasonDriverUnreachable = "DriverUnreachable"
	// ReasonHostNotConfigured says that the manager has no host of the name and driver where the machine is or shall be.
	ReasonHostNotConfigured = "HostNotConfigured"
	// ReasonHostMismatch says that spec names another host or driver than the one where the machine is.
	ReasonHostMismatch = "HostMismatch"
	// ReasonInstanceLost says that the machine was there and is gone, by another hand than ours.
	ReasonInstanceLost = "InstanceLost"
	// ReasonCrashed says that the machine has ended by itself.
	ReasonCrashed = "Crashed"
	// ReasonImageNotFound says that there is no such image, here or at its registry.
	ReasonImageNotFound = "ImageNotFound"
	// ReasonImagePullFailed says that the image could not be fetched.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonNameTaken says that the only names left for the machine belong to somebody else on the host.
	ReasonNameTaken = "NameTaken"
	// ReasonInvalidSpec says that the host refuses what the spec describes.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonUnsupported says that the driver cannot do what the spec asks for.
	ReasonUnsupported = "Unsupported"
	// ReasonNoCapacity says that no host, or not this one, has as much as the spec asks for.
	ReasonNoCapacity = "NoCapacity"
	// ReasonCreateFailed says that the machine could not be made.
	ReasonCreateFailed = "CreateFailed"
	// ReasonStartFailed says that the machine could not be started.
	ReasonStartFailed = "StartFailed"
	// ReasonStopFailed says that the machine could not be turned off.
	ReasonStopFailed = "StopFailed"
	// ReasonResizeFailed says that the machine could not be given another size.
	ReasonResizeFailed = "ResizeFailed"
	// ReasonDeleteFailed says that the machine could not be removed.
	ReasonDeleteFailed = "DeleteFailed"
	// ReasonSecretNotFound says that a Secret that the spec names, or the key in it, does not exist.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretInvalid says that a Secret does not hold what it should.
	ReasonSecretInvalid = "SecretInvalid"
	// ReasonResizePending says that another size waits for a restart.
	ReasonResizePending = "ResizePending"
	// ReasonSpecChanged says that what the machine is made from has changed, and takes effect with the next restart.
	ReasonSpecChanged = "SpecChanged"
	// ReasonRecreateRequired says that what a guest is made from has changed: only a new VirtualMachine can have that.
	ReasonRecreateRequired = "RecreateRequired"
	// ReasonOrphaned is the reason of the event for a machine on a host that no VirtualMachine stands for.
	ReasonOrphaned = "Orphaned"
	// ReasonOrphanDeleted is the reason of the event for such a machine that has been removed.
	ReasonOrphanDeleted = "OrphanDeleted"
)
