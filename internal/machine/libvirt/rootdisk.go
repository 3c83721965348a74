// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"fmt"
	"slices"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// sector is the unit in which QEMU changes the size of a disk.
const sector = 512

// growRoot makes the root disk of a machine as large as asked, also while its guest runs. It never makes one smaller, because that would cut
// off what a guest wrote. A disk that a Resize has grown before its record was written is recognized by its size.
func (d *driver) growRoot(ctx context.Context, f *found, bytes int64) error {
	root, ok := f.root()
	if !ok {
		return fmt.Errorf("%w: it was made without a root disk: remove rootDisk from the spec, or create a new VirtualMachine", machine.ErrInvalid)
	}
	bytes = (bytes + sector - 1) / sector * sector
	has, err := call(ctx, d.looking, func(api *libvirt.Libvirt) (int64, error) {
		vol, err := root.find(api)
		if err != nil {
			return 0, err
		}
		return sizeOf(api, vol, formatIn(vol.Name))
	})
	switch {
	case err != nil:
		return err
	case bytes < has:
		return fmt.Errorf("%w: its root disk has %d bytes and cannot become smaller: set rootDisk to at least %d", machine.ErrInvalid, has, has)
	case bytes == has:
		return nil
	}
	err = tell(ctx, d.acting, func(api *libvirt.Libvirt) error {
		if f.active() {
			return api.DomainBlockResize(f.dom, root.device, unsigned(bytes), libvirt.DomainBlockResizeBytes)
		}
		vol, err := root.find(api)
		if err != nil {
			return err
		}
		return api.StorageVolResize(vol, unsigned(bytes), 0)
	})
	switch {
	case is(err, libvirt.ErrNoSupport):
		return fmt.Errorf("%w: the host cannot resize disks: %w", machine.ErrUnsupported, err)
	case err != nil && f.active() && ctx.Err() == nil && !unreachable(err):
		return fmt.Errorf("%w: %w", machine.ErrRestartRequired, err)
	default:
		return err
	}
}

// rootDisk is the root disk that was made for a machine: its volume, and the device that its guest sees.
type rootDisk struct {
	volume

	device string
}

// root returns the root disk of the domain, false if none was made for it.
func (f *found) root() (rootDisk, bool) {
	r := f.record()
	prefix := volumePrefix(r.identity())
	for _, made := range r.Volumes {
		if made.Name != prefix+roleRoot && made.Name != prefix+roleRoot+qcow2Suffix {
			continue
		}
		at := slices.IndexFunc(f.Devices.Disks, func(attached disk) bool {
			return attached.Source.Pool == made.Pool && attached.Source.Volume == made.Name
		})
		if at >= 0 {
			return rootDisk{made, f.Devices.Disks[at].Target.Dev}, true
		}
	}
	return rootDisk{}, false
}

// find finds the volume.
func (r rootDisk) find(api *libvirt.Libvirt) (libvirt.StorageVol, error) {
	pool, err := api.StoragePoolLookupByName(r.Pool)
	if err != nil {
		return libvirt.StorageVol{}, err
	}
	return api.StorageVolLookupByName(pool, r.Name)
}
