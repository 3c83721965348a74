// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

// hostsFile has the hosts of all faults of VirtualMachines. Each is for the namespace of its fault, so that no other machine is placed there.
func (w *world) hostsFile() string {
	return `hosts:
- {name: vm-elsewhere, driver: simulated, endpoint: "simulated://", namespaces: [vm-elsewhere-owner]}
- {name: vm-other-driver, driver: simulated, endpoint: "simulated://", namespaces: [vm-other-driver]}
- {name: vm-dead, driver: docker, endpoint: "unix:///causes/no-such.sock", namespaces: [vm-dead]}
- {name: vm-small, driver: simulated, endpoint: "simulated://?cpu=2&memory=4Gi", namespaces: [vm-small]}
- {name: vm-many-slow, driver: simulated, endpoint: "simulated://?cpu=1&memory=8Gi", namespaces: [vm-many]}
- {name: vm-many-small, driver: simulated, endpoint: "simulated://?cpu=8&memory=1Gi", namespaces: [vm-many]}
- {name: vm-sized, driver: simulated, endpoint: "simulated://", capacity: {cpu: 2, memory: 4Gi}, namespaces: [vm-sized]}
- {name: vm-grows, driver: simulated, endpoint: "simulated://", capacity: {cpu: 2, memory: 4Gi}, namespaces: [vm-grows]}
- {name: vm-image, driver: simulated, endpoint: "simulated://", namespaces: [vm-image]}
- {name: vm-pull, driver: simulated, endpoint: "simulated://", namespaces: [vm-pull]}
- {name: vm-create, driver: simulated, endpoint: "simulated://?fail.create=1", namespaces: [vm-create]}
- {name: vm-start, driver: simulated, endpoint: "simulated://?fail.start=1", namespaces: [vm-start]}
- {name: vm-stop, driver: simulated, endpoint: "simulated://?fail.stop=1", namespaces: [vm-stop]}
- {name: vm-resize, driver: simulated, endpoint: "simulated://?fail.resize=1", namespaces: [vm-resize]}
- {name: vm-delete, driver: simulated, endpoint: "simulated://?fail.delete=1", namespaces: [vm-delete]}
- {name: vm-crash, driver: simulated, endpoint: "simulated://", namespaces: [vm-crash]}
- {name: vm-ends, driver: simulated, endpoint: "simulated://", namespaces: [vm-ends]}
- {name: vm-rigid, driver: simulated, endpoint: "simulated://?live=none", namespaces: [vm-rigid]}
- {name: vm-changed, driver: simulated, endpoint: "simulated://", namespaces: [vm-changed]}
- {name: vm-stubborn, driver: simulated, endpoint: "simulated://", namespaces: [vm-stubborn]}
- {name: vm-boot, driver: simulated, endpoint: "simulated://", namespaces: [vm-boot]}
- {name: vm-paused, driver: simulated, endpoint: "simulated://", namespaces: [vm-paused]}
- {name: vm-secret, driver: simulated, endpoint: "simulated://", namespaces: [vm-secret]}
- {name: vm-forbidden, driver: simulated, endpoint: "simulated://", namespaces: [vm-forbidden]}
- {name: vm-invalid, driver: simulated, endpoint: "simulated://", namespaces: [vm-invalid]}
- {name: vm-slow, driver: simulated, endpoint: "simulated://?latency.create=10m", namespaces: [vm-slow]}
` + w.dockerHosts() + w.libvirtHosts()
}
