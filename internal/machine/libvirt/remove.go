// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"errors"
	"fmt"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Delete implements machine.Driver. The domain goes last: it lists what else has to go. A start that has outlived its instance, or somebody with
// virsh, can come in between until then.
func (d *driver) Delete(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	f, err := d.holder(ctx, id)
	if errors.Is(err, machine.ErrNotFound) {
		if _, ok := uuidOf(id.UID); !ok || id.Installation == "" {
			return nil
		}
		return d.removeOwn(ctx, id)
	}
	if err != nil {
		return err
	}
	if r := f.record(); !r.ours(f.UUID) || r.Installation != id.Installation {
		return nil
	}
	if err := d.stop(ctx, &f, how); err != nil && !errors.Is(err, machine.ErrNotFound) {
		return err
	}
	if _, err := d.stopAgain(ctx, &f, how); err != nil { // a start can have waited for the end of the run before
		return err
	}
	if err := d.removeListed(ctx, f.record().Volumes); err != nil {
		return err
	}
	d.findLogs(ctx, &f)
	if err := d.removeOwn(ctx, id); err != nil {
		return err
	}
	if err := d.undefine(ctx, &f); err != nil {
		return err
	}
	// A domain that runs outlives its definition. Without that, nobody can start it any more.
	started, err := d.stopAgain(ctx, &f, how)
	if !started || err != nil {
		return err
	}
	d.findLogs(ctx, &f) // what it has printed since
	return d.removeOwn(ctx, id)
}

// stopAgain turns a domain off that was started again after it was off, and reports whether it was. ErrBusy if its guest must be asked: the next
// Delete does.
func (d *driver) stopAgain(ctx context.Context, f *found, how machine.PowerOff) (started bool, err error) {
	off, err := d.isOff(ctx, f)
	if off || err != nil {
		return false, err
	}
	if how.Mode == machine.Soft {
		return true, fmt.Errorf("cannot remove domain %q: %w: it was started again", f.Name, machine.ErrBusy)
	}
	return true, d.pull(ctx, f)
}

// removeListed removes the volumes that the metadata of a domain lists, whichever pool they are in.
func (d *driver) removeListed(ctx context.Context, volumes []volume) error {
	for _, v := range volumes {
		err := tell(ctx, d.acting, func(api *libvirt.Libvirt) error {
			pool, err := api.StoragePoolLookupByName(v.Pool)
			if is(err, libvirt.ErrNoStoragePool) {
				return nil // The pool was removed, so its volumes are no longer managed.
			}
			if err != nil {
				return err
			}
			return removeVolume(api, pool, v.Name)
		})
		if err != nil {
			return explain(ctx, fmt.Sprintf("remove volume %q", v.Name), err)
		}
	}
	return nil
}

// removeOwn removes every volume of a machine from the pool in which they are made, with or without a domain.
func (d *driver) removeOwn(ctx context.Context, id machine.Identity) error {
	err := tell(ctx, d.acting, func(api *libvirt.Libvirt) error {
		pool, err := d.pool(api)
		if is(err, libvirt.ErrNoStoragePool) {
			return nil // Without a pool nothing was ever made.
		}
		if err != nil {
			return err
		}
		there, err := listOwn(api, pool, id)
		if err != nil {
			return err
		}
		for _, name := range there.names {
			if err := removeVolume(api, pool, name); err != nil {
				return fmt.Errorf("cannot remove volume %q: %w", name, err)
			}
		}
		return nil
	})
	return explain(ctx, fmt.Sprintf("remove the disks of machine %q", id.UID), err)
}

// undefine removes a domain that is off, with what libvirt keeps for it.
func (d *driver) undefine(ctx context.Context, f *found) error {
	flags := libvirt.DomainUndefineManagedSave | libvirt.DomainUndefineSnapshotsMetadata
	if d.endpoint.hypervisor == hypervisorQEMU {
		flags |= libvirt.DomainUndefineNvram | libvirt.DomainUndefineCheckpointsMetadata
	}
	err := tell(ctx, d.acting, func(api *libvirt.Libvirt) error { return api.DomainUndefineFlags(f.dom, flags) })
	if is(err, libvirt.ErrNoDomain) {
		return nil
	}
	return explain(ctx, fmt.Sprintf("remove domain %q", f.Name), err)
}
