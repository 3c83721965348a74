// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Create implements machine.Driver. It defines the domain on the disks that Prepare has made.
func (d *driver) Create(ctx context.Context, spec machine.Spec) (machine.Observed, error) {
	f, err := d.holder(ctx, spec.Identity)
	switch r := f.record(); {
	case err == nil && r.ours(f.UUID) && r.Installation == spec.Installation:
		return d.observe(ctx, &f)
	case err == nil:
		return machine.Observed{}, fmt.Errorf("cannot create a domain for machine %q: %w: domain %q has its UUID", spec.UID,
			machine.ErrConflict, f.Name)
	case !errors.Is(err, machine.ErrNotFound):
		return machine.Observed{}, err
	}
	if err := d.createNew(ctx, spec); err != nil {
		return machine.Observed{}, explain(ctx, fmt.Sprintf("create a domain for machine %q", spec.UID), err)
	}
	return d.get(ctx, spec.Identity)
}

// Replace implements machine.Driver. A guest keeps the disks that it was created with.
func (d *driver) Replace(ctx context.Context, spec machine.Spec, _ machine.PowerOff) (machine.Observed, error) {
	if _, err := d.holder(ctx, spec.Identity); err != nil && !errors.Is(err, machine.ErrNotFound) {
		return machine.Observed{}, err
	}
	return machine.Observed{}, fmt.Errorf("cannot replace machine %q: %w: a guest keeps its disks", spec.UID, machine.ErrUnsupported)
}

// createNew defines the domain of a machine that has none.
func (d *driver) createNew(ctx context.Context, spec machine.Spec) error {
	if err := check(spec); err != nil {
		return err
	}
	host, err := d.host(ctx)
	if err != nil {
		return err
	}
	if err := host.checkSize(spec.Resources); err != nil {
		return err
	}
	guest, err := disksOf(spec)
	if err != nil {
		return err
	}
	holders, err := d.holders(ctx, slices.DeleteFunc(slices.Clone(guest), func(g guestDisk) bool { return g.role != "" })) // the others are there
	if err != nil {
		return err
	}
	// What has begun goes on also for a caller that has gone, who would not find the domain yet, and remove its disks.
	settling, cancel := machine.Settle(ctx)
	defer cancel()
	return tell(settling, d.acting, func(api *libvirt.Libvirt) error {
		pool, err := d.poolFor(api, guest)
		if err != nil {
			return err
		}
		if err := d.endpoint.checkBootFiles(api, pool, spec.Boot); err != nil {
			return err
		}
		there, err := listOwn(api, pool, spec.Identity)
		if err != nil {
			return err
		}
		made, disks, err := d.connect(ctx, api, pool, holders, there, spec, host, guest)
		if err != nil {
			return err
		}
		// From here on a guest may use the disks. A crash between the two steps leaves disks that count as used, which is the safe side.
		restore, err := there.unmark(api, pool, made.Volumes)
		if err != nil {
			return err
		}
		log, err := host.createLog(api, pool, spec.Identity)
		if err != nil {
			return errors.Join(err, restore())
		}
		if err = define(api, spec, host, made, disks, log); err != nil {
			return undo(api, spec.Identity, err, restore)
		}
		return nil
	})
}

// undo restores the markers of disks whose domain could not be defined, and returns why it could not. The answer alone may have been lost: where the
// domain is there, its disks are in use, and nothing has failed. Where that cannot be told, the disks stay on the safe side.
func undo(api *libvirt.Libvirt, id machine.Identity, failure error, restore func() error) error {
	uuid, _ := uuidOf(id.UID) // check has seen that it is one
	switch _, err := api.DomainLookupByUUID(uuid); {
	case err == nil:
		return nil
	case is(err, libvirt.ErrNoDomain):
		return errors.Join(failure, restore())
	default:
		return failure
	}
}

// connect returns the record of a new machine and its disks, which Prepare has created or another owner provides.
func (d *driver) connect(ctx context.Context, api *libvirt.Libvirt, pool libvirt.StoragePool, holders []found, there inventory, spec machine.Spec,
	host hostFacts, guest []guestDisk,
) (record, []disk, error) {
	made := recordOf(spec)
	disks := make([]disk, 0, len(guest))
	for _, g := range guest {
		var source attachment
		var err error
		if g.role == "" {
			source, err = d.endpoint.findDisk(ctx, api, pool, holders, g)
		} else {
			source, err = there.attach(pool, g)
			made.Volumes = append(made.Volumes, volume{Pool: pool.Name, Name: source.volume})
		}
		if err != nil {
			return record{}, nil, err
		}
		disks = append(disks, host.diskOf(source, len(disks), g.readOnly))
	}
	return made, disks, nil
}

// define defines the domain under the first name that is free.
func define(api *libvirt.Libvirt, spec machine.Spec, host hostFacts, made record, disks []disk, log string) error {
	var taken error
	for _, name := range namesOf(spec.Identity) {
		domain, err := domainOf(spec, host, name, made, disks, log)
		if err != nil {
			return err
		}
		text, err := xml.Marshal(domain)
		if err != nil {
			return fmt.Errorf("cannot write domain %q: %w", name, err)
		}
		if _, err = api.DomainDefineXMLFlags(string(text), 0); err == nil {
			return nil
		}
		// libvirt has one number for most of what can fail here.
		holder, lookErr := api.DomainLookupByName(name)
		if lookErr != nil || textOf(holder.UUID) == spec.UID {
			return fmt.Errorf("cannot define domain %q: %w", name, err)
		}
		taken = fmt.Errorf("cannot define domain %q: %w: %w", name, machine.ErrConflict, err)
	}
	return taken
}
