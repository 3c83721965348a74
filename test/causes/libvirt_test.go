// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// startLibvirt starts a libvirtd for the hosts of faults.
func (w *world) startLibvirt(ctx context.Context) (err error) {
	if missing := libvirttest.Missing(); missing != "" {
		w.lacking[realLibvirt] = "no libvirt: " + missing
		return nil
	}
	w.libvirt, err = libvirttest.Open(ctx)
	return err
}

// closeLibvirt ends the daemon, if there is one.
func (w *world) closeLibvirt() error {
	if w.libvirt == nil {
		return nil
	}
	return w.libvirt.Close()
}

// libvirtHosts are the hosts of the faults on libvirt, one for each.
func (w *world) libvirtHosts() string {
	if w.libvirt == nil {
		return ""
	}
	text := &strings.Builder{}
	for _, f := range libvirtFaults() {
		fmt.Fprintf(text, "- {name: %s, driver: libvirt, endpoint: \"qemu:///system?socket=%s&pool=%s&paths=/srv/images\", namespaces: [%s]}\n",
			f.id, w.libvirt.Socket(), f.id, f.id)
	}
	return text.String()
}

// storagePool makes the pool in which the host keeps the disks of the fault's machine.
func storagePool() step {
	return step{"make the storage pool", func(_ context.Context, r *trial) error {
		dir := r.libvirt.Path(r.fault.id)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		_, err := r.libvirt.Dial(r.T, "qemu:///system").StoragePoolCreateXML( //nolint:contextcheck // because the connection is the test's
			"<pool type='dir'><name>"+r.fault.id+"</name><target><path>"+dir+"</path></target></pool>", 0)
		return err
	}}
}

// libvirtFaults are of machines that a real libvirtd refuses to make.
func libvirtFaults() []fault {
	domain := func(image, memory string) []step {
		return []step{storagePool(), have(`{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: guest}, spec: {driver: libvirt, host: $, image: {name: ` + image + `}, ` +
			`resource: {cpu: 1, memory: ` + memory + `}}}`)}
	}
	faults := []fault{
		{
			name: "The storage pool for disks does not exist", id: "libvirt-pool", steps: domain("/srv/images/missing.img", "64Mi")[1:],
			code: "ImagePullFailed", message: `storage pool "libvirt-pool", in which disks are made, does not exist`, shows: "libvirt-pool",
		},
		{
			name: "The storage pool of the image does not exist", id: "libvirt-images", steps: domain("images/missing.img", "64Mi"),
			code: "ImageNotFound", message: "images",
		},
		{
			name: "The host has no file of that name", id: "libvirt-file", steps: domain("/srv/images/missing.img", "64Mi"),
			code: "ImageNotFound", message: "/srv/images/missing.img",
		},
		{
			name: "The host does not offer files from that directory", id: "libvirt-path", steps: domain("/etc/shadow", "64Mi"),
			code: "InvalidSpec", message: "/etc/shadow",
		},
		{
			name: "The real host has not that much memory", id: "libvirt-memory", steps: domain("/srv/images/missing.img", "900Ti"),
			code: "NoCapacity", message: "900Ti needed",
		},
	}
	for i := range faults {
		faults[i].ask, faults[i].evidence, faults[i].needs = "virtualmachines/$/guest", isGuest, realLibvirt
	}
	return faults
}
