// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import "slices"

// machine is a VirtualMachine on the host of the fault, with more of its spec.
func machine(spec string) step {
	return have(`{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: guest}, spec: {driver: simulated, host: $, image: {name: example}, ` + spec + `}}`)
}

const (
	small   = `resource: {cpu: 1, memory: 1Gi}`
	isGuest = "VirtualMachine/guest status.conditions[*]"
)

func guestRuns() step { return until("vm/guest", "status.conditions[Ready]", "True") }

// letRead allows Windlass to read the Secrets of the namespace.
func letRead() step {
	return have(`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: windlass-secrets}, ` +
		`roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: windlass-secret-reader}, subjects: [{kind: ServiceAccount, namespace: windlass-system, name: windlass}]}`)
}

// machineFaults keep VirtualMachines from being ready.
func machineFaults() []fault {
	faults := slices.Concat(placementFaults(), secretFaults(), driverFaults())
	for i := range faults {
		faults[i].ask = "virtualmachines/$/guest"
	}
	return faults
}

func placementFaults() []fault {
	return []fault{
		{
			name: "There is no such host", id: "vm-nowhere", steps: []step{machine(small)},
			code: "HostNotConfigured", evidence: isGuest, message: "vm-nowhere", elsewhere: "the log of a manager in the cluster",
		},
		{
			name: "The host has another driver than the machine asks for", id: "vm-other-driver",
			steps: []step{have(`{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: guest}, spec: {driver: libvirt, host: $, image: {name: pool/volume}, ` + small + `}}`)},
			code:  "HostNotConfigured", evidence: isGuest, message: "has driver simulated, not libvirt", elsewhere: "the log of a manager in the cluster",
		},
		{
			name: "The host is for other namespaces", id: "vm-elsewhere", steps: []step{machine(small)},
			code: "HostNotAllowed", evidence: isGuest, message: "vm-elsewhere",
		},
		{
			name: "The host does not answer", id: "vm-dead",
			steps: []step{have(`{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: guest}, spec: {driver: docker, host: $, image: {name: example}, ` + small + `}}`)},
			code:  "DriverUnreachable", evidence: isGuest, message: "no-such.sock", shows: "no-such.sock",
		},
		{
			name: "The host has not that much memory", id: "vm-small", steps: []step{machine(`resource: {cpu: 1, memory: 8Gi}`)},
			code: "NoCapacity", evidence: isGuest, message: "memory",
		},
		{
			name: "Each of two hosts lacks something", id: "vm-many",
			steps: []step{have(`{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: guest}, spec: {driver: simulated, image: {name: example}, resource: {cpu: 2, memory: 2Gi}}}`)},
			code:  "NoCapacity", evidence: isGuest, message: "vm-many-slow",
		},
		{
			name: "The machine says no size, and the host is shared out", id: "vm-sized", steps: []step{machine(`resource: {cpu: 1}`)},
			code: "NoCapacity", evidence: isGuest, message: "memory",
		},
		{
			name: "The machine is to become larger than its host", id: "vm-grows", steps: []step{machine(small), guestRuns(), change("vm/guest", `spec: {resource: {memory: 8Gi}}`)},
			code: "CapacityExceeded", evidence: isGuest, message: "memory",
		},
		{
			name: "The image does not exist", id: "vm-image",
			steps: []step{have(`{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: guest}, spec: {driver: simulated, host: $, image: {name: missing}, ` + small + `}}`)},
			code:  "ImageNotFound", evidence: isGuest, message: "missing",
		},
		{
			name: "The image cannot be fetched", id: "vm-pull",
			steps: []step{have(`{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: guest}, spec: {driver: simulated, host: $, image: {name: refused}, ` + small + `}}`)},
			code:  "ImagePullFailed", evidence: isGuest, message: "refused", shows: "ImagePullFailed",
		},
	}
}

func secretFaults() []fault {
	const pulling = `{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: guest}, spec: {driver: simulated, host: $, image: {name: example, pullSecret: {name: registry}}, ` + small + `}}`
	return []fault{
		{
			name: "The Secret for the registry does not exist", id: "vm-secret", steps: []step{letRead(), have(pulling)},
			code: "SecretNotFound", evidence: isGuest, message: "registry",
		},
		{
			name: "Windlass may not read the Secret for the registry", id: "vm-forbidden", steps: []step{have(pulling)},
			code: "SecretForbidden", evidence: isGuest, message: "rolebinding", shows: "rolebinding",
		},
		{
			name: "The Secret for the registry is not a Docker configuration", id: "vm-invalid",
			steps: []step{letRead(), have(`{apiVersion: v1, kind: Secret, metadata: {name: registry}, stringData: {.dockerconfigjson: nonsense}}`), have(pulling)},
			code:  "SecretInvalid", evidence: isGuest, message: `waiting for a valid Docker configuration in Secret "registry"`, shows: "registry",
		},
	}
}

func driverFaults() []fault {
	return []fault{
		{
			name: "The host cannot create the machine", id: "vm-create", steps: []step{machine(small)},
			code: "CreateFailed", evidence: isGuest, shows: "CreateFailed",
		},
		{
			name: "The host cannot start the machine", id: "vm-start", steps: []step{machine(small)},
			code: "StartFailed", evidence: isGuest, shows: "StartFailed",
		},
		{
			name: "The host cannot stop the machine", id: "vm-stop", steps: []step{machine(small), guestRuns(), change("vm/guest", `spec: {runStrategy: Halted}`)},
			code: "StopFailed", evidence: isGuest, shows: "StopFailed",
		},
		{
			name: "The host cannot change the size of the machine", id: "vm-resize", steps: []step{machine(small), guestRuns(), change("vm/guest", `spec: {resource: {cpu: 2}}`)},
			code: "ResizeFailed", evidence: isGuest, shows: "ResizeFailed",
		},
		{
			name: "The host cannot delete the machine", id: "vm-delete", steps: []step{machine(small), guestRuns(), remove("vm/guest")},
			code: "DeleteFailed", evidence: isGuest, shows: "DeleteFailed",
		},
		{
			name: "The machine crashes again and again", id: "vm-crash",
			steps: []step{machine(small + `, env: [{name: SIMULATE_EXIT_AFTER, value: 1s}, {name: SIMULATE_EXIT_CODE, value: "7"}]`), until("vm/guest", "status.startFailure", "count:")},
			code:  "Crashed", evidence: isGuest, message: "7",
		},
		{
			name: "The machine shuts down by itself", id: "vm-ends",
			steps: []step{machine(small + `, env: [{name: SIMULATE_EXIT_AFTER, value: 1s}]`), until("vm/guest", "status.startFailure", "count:")},
			code:  "Stopped", evidence: isGuest, cures: true,
		},
		{
			name: "The new size waits for a restart", id: "vm-rigid", steps: []step{machine(small), guestRuns(), change("vm/guest", `spec: {resource: {cpu: 2}}`)},
			code: "ResizePending", evidence: isGuest, cures: true,
		},
		{
			name: "The new image waits for a restart", id: "vm-changed", steps: []step{machine(small), guestRuns(), change("vm/guest", `spec: {image: {name: other}}`)},
			code: "SpecChanged", evidence: isGuest, cures: true,
		},
		{
			name: "The machine ignores that it is to stop", id: "vm-stubborn",
			steps: []step{
				machine(small + `, powerOff: {mode: Soft, gracePeriodSeconds: 1}, env: [{name: SIMULATE_IGNORE_STOP, value: "true"}]`), guestRuns(),
				change("vm/guest", `spec: {runStrategy: Halted}`),
			},
			code: "StopFailed", evidence: isGuest, shows: "StopFailed",
		},
		{
			name: "The driver does not support a field", id: "vm-boot", steps: []step{machine(small + `, boot: {kernel: vmlinuz}`)},
			code: "Unsupported", evidence: isGuest, message: "boot",
		},
		{
			name: "The machine is paused", id: "vm-paused",
			steps: []step{have(`{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: guest, annotations: {windlass.io/paused: "true"}}, ` +
				`spec: {driver: simulated, host: $, image: {name: example}, ` + small + `}}`)},
			code: "Paused", evidence: "VirtualMachine/guest status.conditions[Paused]", message: "windlass.io/paused", cures: true,
		},
		{
			name: "The host takes very long", id: "vm-slow", steps: []step{machine(small)},
			code: "Provisioning", evidence: isGuest, shows: "Provisioning",
		},
	}
}
