// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import "net"

// socketsOf returns where a daemon listens: the one for everything, or the one for the hypervisor.
func socketsOf(hypervisor string) []string {
	sockets := []string{"/run/libvirt/libvirt-sock", "/var/run/libvirt/libvirt-sock"}
	if hypervisor == hypervisorQEMU {
		sockets = append(sockets, "/run/libvirt/virtqemud-sock", "/var/run/libvirt/virtqemud-sock")
	}
	return sockets
}

// firstOf connects to the first socket that answers. The first one is the usual one: its error is the most useful.
func firstOf(sockets []string, dial func(path string) (net.Conn, error)) (net.Conn, error) {
	var first error
	for _, path := range sockets {
		conn, err := dial(path)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}
