// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"

// lastOutput prints what a machine has written last, without what a terminal would obey.
const lastOutput = `curl -sS -H "Authorization: Bearer $T" "$A/v1/virtualmachines/{namespace}/{name}/console/output?tailLines=100" | cat -v`

// machineCodes returns the codes of VirtualMachines.
func machineCodes() map[Code]row {
	const edit, show = "kubectl edit virtualmachine {name}{in}", describeCommand
	restart := `kubectl patch virtualmachine {name}{in} --type merge -p '{"spec":{"updatePolicy":"Restart"}}'`
	halt := `kubectl patch virtualmachine {name}{in} --type merge -p '{"spec":{"runStrategy":"Halted"}}'`
	start := `kubectl patch virtualmachine {name}{in} --type merge -p '{"spec":{"runStrategy":"Always"}}'`
	out := map[Code]row{
		cloudnativev1alpha1.ReasonDriverUnreachable: waits("Look at the host and the network: Windlass tries again and touches nothing meanwhile.", show),
		cloudnativev1alpha1.ReasonHostNotConfigured: asks("Correct the hosts file and restart Windlass, or correct host and driver in a new object.", managerLog),
		cloudnativev1alpha1.ReasonHostNotAllowed:    asks("Use a host that the message names, or have the namespace added to the host.", edit),
		cloudnativev1alpha1.ReasonHostMismatch:      asks("Change the host or driver back: a machine is never moved.", edit),
		cloudnativev1alpha1.ReasonRetainedLimit:     asks("Remove retained machines from their hosts, or set deletionPolicy to Delete.", edit),
		cloudnativev1alpha1.ReasonCapacityExceeded:  asks("Ask for less, free room, or raise the capacity of the host.", edit),
		cloudnativev1alpha1.ReasonNoCapacity:        asks("Ask for less, add hosts, or raise the capacity of a host.", edit),
		cloudnativev1alpha1.ReasonSecretNotFound:    asks("Create the Secret or the key that the message names.", "kubectl get secrets{in}"),
		cloudnativev1alpha1.ReasonSecretForbidden:   asks("Have an administrator of the namespace run the command in the message.", show),
		cloudnativev1alpha1.ReasonSecretInvalid:     asks("Correct the pull Secret.", "kubectl get secrets{in}"),
		cloudnativev1alpha1.ReasonImageNotFound:     asks("Correct image.name, or put the image on the host.", edit),
		cloudnativev1alpha1.ReasonImagePullFailed:   waits("Look at the network and the credentials: Windlass tries again.", show),
		cloudnativev1alpha1.ReasonNameTaken:         asks("Remove or rename the machines on the host that have the names.", show),
		cloudnativev1alpha1.ReasonDiskMismatch:      asks("Do what the message says: the disk may hold data.", show),
		cloudnativev1alpha1.ReasonDiskLost:          asks("Restore the disk on its host: Windlass tries again.", show),
		cloudnativev1alpha1.ReasonInvalidSpec:       asks("Correct what the message names.", edit),
		cloudnativev1alpha1.ReasonNotAllowed:        asks("Change the spec, or have the administrator allow it in the hosts file.", edit),
		cloudnativev1alpha1.ReasonUnsupported:       asks("Remove the field that the driver does not support.", edit),
		cloudnativev1alpha1.ReasonStopped:           waits("Windlass starts the machine again. To keep it off, set runStrategy to Halted.", halt),
		cloudnativev1alpha1.ReasonCrashed: waits("Read the last output of the machine: $A and $T are address and token of the manager's HTTP API. The run strategy Halted ends a loop.", lastOutput).gaveUp(
			"Read the last output of the machine: $A and $T are address and token of the manager's HTTP API. To start the machine again, set restartAt.", lastOutput),
		cloudnativev1alpha1.ReasonInstanceLost: waits("Windlass creates the machine again.", show).gaveUp(
			"Set restartAt, if the run strategy is Once, or choose another run strategy: Windlass then creates the machine again.", start),
		cloudnativev1alpha1.ReasonHeld:             asks("Resume the machine on its host, or set runStrategy to Halted.", halt),
		cloudnativev1alpha1.ReasonNotSuspended:     asks("Choose what becomes of the machine: only another run strategy starts it, without what was in its memory.", start),
		cloudnativev1alpha1.ReasonResizePending:    asks("Restart the machine: set restartAt, or updatePolicy to Restart. One that is suspended has to run first.", restart),
		cloudnativev1alpha1.ReasonSpecChanged:      asks("Restart the machine: set restartAt, or updatePolicy to Restart.", restart),
		cloudnativev1alpha1.ReasonRecreateRequired: asks("Create a new VirtualMachine: what the guest is created from has changed.", show),
		cloudnativev1alpha1.ReasonNoRootDisk:       asks("Remove resource.rootDisk, or use the driver libvirt.", edit),
		cloudnativev1alpha1.ReasonEmulated:         asks("Enable KVM on the host, if the machine is too slow.", show),
	}
	for _, step := range []Code{
		cloudnativev1alpha1.ReasonPending, cloudnativev1alpha1.ReasonProvisioning, cloudnativev1alpha1.ReasonStarting,
		cloudnativev1alpha1.ReasonStopping, cloudnativev1alpha1.ReasonSuspending, cloudnativev1alpha1.ReasonResuming, cloudnativev1alpha1.ReasonRestarting, cloudnativev1alpha1.ReasonResizing,
		cloudnativev1alpha1.ReasonReplacing, cloudnativev1alpha1.ReasonDeleting,
	} {
		out[step] = waits("If it takes too long, look at the host.", show)
	}
	for _, failed := range []Code{
		cloudnativev1alpha1.ReasonCreateFailed, cloudnativev1alpha1.ReasonStartFailed, cloudnativev1alpha1.ReasonStopFailed,
		cloudnativev1alpha1.ReasonSuspendFailed, cloudnativev1alpha1.ReasonResumeFailed, cloudnativev1alpha1.ReasonResizeFailed, cloudnativev1alpha1.ReasonDeleteFailed,
	} {
		out[failed] = waits("Windlass tries again. If it keeps failing, look at the host.", show)
	}
	return out
}
