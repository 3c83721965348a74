// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Phase is the state of a machine in one word.
type Phase string

// The phases of a VirtualMachine.
const (
	// PhasePending says that nothing has been created yet: the machine waits for a host or a Secret.
	PhasePending Phase = "Pending"
	// PhaseCreating says that the machine is being created or started.
	PhaseCreating Phase = "Creating"
	// PhaseActive says that the machine runs.
	PhaseActive Phase = "Active"
	// PhaseSuspended says that Windlass has suspended the machine.
	PhaseSuspended Phase = "Suspended"
	// PhaseStopped says that the machine is off and is not to be started.
	PhaseStopped Phase = "Stopped"
	// PhaseCrashLoopBackOff says that the machine ended by itself and is started again after a delay.
	PhaseCrashLoopBackOff Phase = "CrashLoopBackOff"
	// PhaseImagePullBackOff says that the image cannot be fetched; Windlass tries again after a delay.
	PhaseImagePullBackOff Phase = "ImagePullBackOff"
	// PhaseFailed says that the machine could not be created or started, or was lost.
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
	// ConditionImageReady is True when what the machine is created from is on the host.
	ConditionImageReady = "ImageReady"
	// ConditionProvisioned is True when the machine exists on its host.
	ConditionProvisioned = "Provisioned"
	// ConditionPowerSynced is True when the machine runs, or is suspended or off, as runStrategy says.
	ConditionPowerSynced = "PowerSynced"
	// ConditionResourcesSynced is True when the machine has the size that spec.resource says.
	ConditionResourcesSynced = "ResourcesSynced"
	// ConditionRestartRequired is True when a change of the spec takes effect only with the next start.
	ConditionRestartRequired = "RestartRequired"
	// ConditionSoftwareEmulation is True when the host emulates the guest's processor. It is absent while nothing is known of the
	// host, and does not affect Ready.
	ConditionSoftwareEmulation = "SoftwareEmulation"
	// ConditionRootDiskRefused is True when the spec asks for a root disk that the machines of the driver do not have. It is absent
	// otherwise, and does not affect Ready.
	ConditionRootDiskRefused = "RootDiskRefused"
)

// Reasons of conditions that are as desired.
const (
	// ReasonDriverReady says that the host answers.
	ReasonDriverReady = "DriverReady"
	// ReasonImageReady says that the image is on the host.
	ReasonImageReady = "ImageReady"
	// ReasonProvisioned says that the machine exists.
	ReasonProvisioned = "Provisioned"
	// ReasonRunning says that the machine runs.
	ReasonRunning = "Running"
	// ReasonStopped says that the machine is off.
	ReasonStopped = "Stopped"
	// ReasonSuspended says that the machine is suspended, as spec.runStrategy says, and is the reason of the event about that.
	ReasonSuspended = "Suspended"
	// ReasonCompleted says that the machine ended without an error and is not started again.
	ReasonCompleted = "Completed"
	// ReasonResourcesSynced says that the machine has the size that the spec says.
	ReasonResourcesSynced = "ResourcesSynced"
	// ReasonUpToDate says that no change waits for a restart.
	ReasonUpToDate = "UpToDate"
	// ReasonAccelerated says that guests run on the host's processor, or that there is no guest.
	ReasonAccelerated = "Accelerated"
	// ReasonEmulated says that the host emulates the guest's processor, which is slow.
	ReasonEmulated = "Emulated"
	// ReasonNoRootDisk says that machines of the driver have no root disk of a size of their own.
	ReasonNoRootDisk = "NoRootDisk"
)

// Reasons of a machine that is being worked on, and of the events about that.
const (
	// ReasonPending says that the machine does not exist yet.
	ReasonPending = "Pending"
	// ReasonProvisioning says that the image is being fetched or the machine is being created.
	ReasonProvisioning = "Provisioning"
	// ReasonStarting says that the machine is being started.
	ReasonStarting = "Starting"
	// ReasonStopping says that the machine is being turned off.
	ReasonStopping = "Stopping"
	// ReasonRestarting says that the machine is being restarted, as spec.restartAt or a change of the spec asks for.
	ReasonRestarting = "Restarting"
	// ReasonResizing says that the machine is being resized.
	ReasonResizing = "Resizing"
	// ReasonReplacing says that the container is being replaced by one that the changed spec describes.
	ReasonReplacing = "Replacing"
	// ReasonSuspending says that the machine is being suspended.
	ReasonSuspending = "Suspending"
	// ReasonResuming says that a suspended machine is being resumed.
	ReasonResuming = "Resuming"
	// ReasonDeleting says that the machine is being removed.
	ReasonDeleting = "Deleting"
	// ReasonHeld says that somebody other than Windlass has suspended the machine on its host.
	ReasonHeld = "Held"
	// ReasonCreated is the reason of the event for a machine that was created.
	ReasonCreated = "Created"
	// ReasonAdopted is the reason of the event for a machine of this object that already existed.
	ReasonAdopted = "Adopted"
	// ReasonStarted is the reason of the event for a machine that was started.
	ReasonStarted = "Started"
	// ReasonResumed is the reason of the event for a suspended machine that was resumed.
	ReasonResumed = "Resumed"
	// ReasonRestarted is the reason of the event for a machine that was restarted.
	ReasonRestarted = "Restarted"
	// ReasonResized is the reason of the event for a machine that was resized.
	ReasonResized = "Resized"
	// ReasonReplaced is the reason of the event for a container that was replaced.
	ReasonReplaced = "Replaced"
	// ReasonDeleted is the reason of the event for a machine that was removed.
	ReasonDeleted = "Deleted"
	// ReasonRetained is the reason of the event for a machine that stays although its object is deleted.
	ReasonRetained = "Retained"
)

// Reasons of a machine that is not as desired, and of the events about that.
const (
	// ReasonDriverUnreachable says that the host does not answer. Its machines are left alone until it does.
	ReasonDriverUnreachable = "DriverUnreachable"
	// ReasonHostNotConfigured says that the manager's configuration has no host of that name and driver.
	ReasonHostNotConfigured = "HostNotConfigured"
	// ReasonHostNotAllowed says that the manager's configuration keeps the named host, or all hosts of the driver, from the namespace.
	ReasonHostNotAllowed = "HostNotAllowed"
	// ReasonHostMismatch says that the spec or the status names another host, driver or machine than those of the object.
	ReasonHostMismatch = "HostMismatch"
	// ReasonInstanceLost says that the machine has disappeared and Windlass did not remove it.
	ReasonInstanceLost = "InstanceLost"
	// ReasonCrashed says that the machine ended by itself.
	ReasonCrashed = "Crashed"
	// ReasonNotSuspended says that the machine is to be suspended, and is off: its host was restarted, or it never ran. It stays off.
	ReasonNotSuspended = "NotSuspended"
	// ReasonImageNotFound says that the image exists neither on the host nor at its registry.
	ReasonImageNotFound = "ImageNotFound"
	// ReasonImagePullFailed says that the image could not be fetched.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonNameTaken says that other machines on the host have all names that this one could have.
	ReasonNameTaken = "NameTaken"
	// ReasonDiskMismatch says that a disk of the machine exists and does not fit what the spec describes. It may hold data, so it is neither
	// used nor replaced until a person has decided.
	ReasonDiskMismatch = "DiskMismatch"
	// ReasonDiskLost says that a disk that was made for the machine before is gone. It may hold data and come back, so it is not made again
	// until a person has decided.
	ReasonDiskLost = "DiskLost"
	// ReasonInvalidSpec says that the host refuses the spec.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNotAllowed says that the manager's configuration of the host does not allow what the spec asks for.
	ReasonNotAllowed = "NotAllowed"
	// ReasonUnsupported says that the driver cannot do what the spec asks for.
	ReasonUnsupported = "Unsupported"
	// ReasonRetainedLimit says that the namespace has as many retained machines as it can have.
	ReasonRetainedLimit = "RetainedLimit"
	// ReasonCapacityExceeded says that the machine keeps its size because its host has no room for the one that the spec asks for.
	ReasonCapacityExceeded = "CapacityExceeded"
	// ReasonNoCapacity says that no host, or not the one named, has the capacity that the spec asks for.
	ReasonNoCapacity = "NoCapacity"
	// ReasonCreateFailed says that the machine could not be created.
	ReasonCreateFailed = "CreateFailed"
	// ReasonStartFailed says that the machine could not be started.
	ReasonStartFailed = "StartFailed"
	// ReasonStopFailed says that the machine could not be turned off.
	ReasonStopFailed = "StopFailed"
	// ReasonSuspendFailed says that the machine could not be suspended.
	ReasonSuspendFailed = "SuspendFailed"
	// ReasonResumeFailed says that the machine could not be resumed.
	ReasonResumeFailed = "ResumeFailed"
	// ReasonResizeFailed says that the machine could not be resized.
	ReasonResizeFailed = "ResizeFailed"
	// ReasonDeleteFailed says that the machine could not be removed.
	ReasonDeleteFailed = "DeleteFailed"
	// ReasonSecretNotFound says that a Secret that the spec names, or the key in it, does not exist.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretForbidden says that the namespace does not let Windlass read a Secret that the spec names.
	ReasonSecretForbidden = "SecretForbidden"
	// ReasonSecretInvalid says that the content of a Secret is not valid.
	ReasonSecretInvalid = "SecretInvalid"
	// ReasonResizePending says that a new size waits for a restart.
	ReasonResizePending = "ResizePending"
	// ReasonSpecChanged says that what the container is created from has changed, which takes effect with the next restart.
	ReasonSpecChanged = "SpecChanged"
	// ReasonRecreateRequired says that what the guest is created from has changed, which only a new VirtualMachine can apply.
	ReasonRecreateRequired = "RecreateRequired"
	// ReasonOrphaned is the reason of the event for a machine on a host that has no VirtualMachine.
	ReasonOrphaned = "Orphaned"
	// ReasonDuplicated is the reason of the event for a second machine of a VirtualMachine, on another host than the one that its status names.
	ReasonDuplicated = "Duplicated"
	// ReasonOrphanDeleted is the reason of the event for an orphaned machine that was removed.
	ReasonOrphanDeleted = "OrphanDeleted"
)
