// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// allocationPoll is how often Prepare checks whether libvirt has finished with a volume whose caller has gone.
const allocationPoll = time.Second

// Prepare implements machine.Driver. It makes the disks of the machine. Copying an image can take hours, so Prepare ends with its context and
// has no limit of its own. It keeps every disk that is there already and only makes those that are missing.
func (d *driver) Prepare(ctx context.Context, spec machine.Spec) error {
	what := fmt.Sprintf("prepare the disks of machine %q", spec.UID)
	if err := check(spec); err != nil {
		return fmt.Errorf("cannot %s: %w", what, err)
	}
	_, err := d.holder(ctx, spec.Identity)
	if err == nil {
		return nil // A domain has its disks. Create reports whether the domain is this machine's.
	}
	if !errors.Is(err, machine.ErrNotFound) {
		return err
	}
	guest, err := disksOf(spec)
	if err != nil {
		return fmt.Errorf("cannot %s: %w", what, err)
	}
	holders, err := d.holders(ctx, guest)
	if err != nil {
		return explain(ctx, what, err)
	}
	work, err := call(ctx, d.acting, func(api *libvirt.Libvirt) ([]build, error) {
		pool, err := d.poolFor(api, guest)
		if err != nil {
			return nil, err
		}
		return d.planBuilds(ctx, api, pool, holders, spec, guest)
	})
	if err == nil && len(work) > 0 {
		err = d.buildAll(ctx, work)
	}
	return explain(ctx, what, err)
}

// planBuilds returns the disks that have to be made, and refuses names that objects cannot use before anything is made.
func (d *driver) planBuilds(
	ctx context.Context, api *libvirt.Libvirt, pool libvirt.StoragePool, holders []found, spec machine.Spec, guest []guestDisk,
) ([]build, error) {
	if err := d.endpoint.checkBootFiles(api, pool, spec.Boot); err != nil {
		return nil, err
	}
	there, err := listOwn(api, pool, spec.Identity)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(guest, func(g guestDisk) bool { return g.role != "" && there.isMissing(g) }) {
		// Files come and go behind libvirt's back. A pool that copies something cannot be refreshed, and then a file that libvirt does not
		// know yet makes the build fail: libvirt never overwrites one.
		_ = api.StoragePoolRefresh(pool, 0)
		if there, err = listOwn(api, pool, spec.Identity); err != nil {
			return nil, err
		}
	}
	var out []build
	for _, g := range guest {
		if g.role == "" {
			if _, err := d.endpoint.findDisk(ctx, api, pool, holders, g); err != nil {
				return nil, err
			}
			continue
		}
		b, err := d.planBuild(ctx, api, pool, holders, there, g)
		if err != nil {
			return nil, err
		}
		if b != nil {
			out = append(out, *b)
		}
	}
	slices.SortStableFunc(out, func(a, b build) int { return cmp.Compare(a.cost(), b.cost()) })
	return out, nil
}

// planBuild returns how to make a disk, nil if there is nothing to do.
func (d *driver) planBuild(
	ctx context.Context, api *libvirt.Libvirt, pool libvirt.StoragePool, holders []found, there inventory, g guestDisk,
) (*build, error) {
	used, err := there.used(g)
	if err != nil {
		return nil, err
	}
	if used != "" {
		return nil, fits(api, pool, used, g)
	}
	if g.kept {
		return nil, there.lost(pool, g)
	}
	b := build{pool: pool, volume: there.prefix + g.role, format: formatRaw, bytes: g.bytes, content: g.content}
	if g.image != "" {
		if b.image, err = d.endpoint.findImage(ctx, api, pool, holders, g.image); err != nil {
			return nil, err
		}
		if g.bytes != 0 && g.bytes < b.image.bytes {
			return nil, fmt.Errorf("%w: its root disk has %d bytes, and its image %d", machine.ErrInvalid, g.bytes, b.image.bytes)
		}
		b.format, b.bytes = b.image.format, max(g.bytes, b.image.bytes)
	}
	if b.format == formatQCOW2 {
		b.volume += qcow2Suffix
	}
	leftovers := there.leftovers(g)
	if slices.Equal(leftovers, []string{b.volume}) && g.content == nil && there.isFinished(b.volume, b.tag()) {
		return nil, nil // An earlier attempt made exactly this disk, and no guest has used it.
	}
	for _, volume := range leftovers {
		b.remove = append(b.remove, leftover{volume: volume, markers: there.markersOf(volume)})
	}
	return &b, nil
}

// buildAll makes disks one after the other, on a connection of its own: a connection serves only a few calls at the same time.
func (d *driver) buildAll(ctx context.Context, work []build) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := d.endpoint.dial(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	s.patience = 0
	go func() {
		select {
		case <-d.closed:
			s.close()
		case <-ctx.Done():
		}
	}()
	settling, settled := machine.Settle(ctx)
	defer settled()
	for _, b := range work {
		if err := b.removeLeftovers(ctx, settling, s); err != nil {
			return err
		}
		isListed := func(ctx context.Context) bool { // on another connection, because this one may wait
			_, err := call(ctx, d.acting, func(api *libvirt.Libvirt) (libvirt.StorageVol, error) {
				return api.StorageVolLookupByName(b.pool, b.volume)
			})
			return err == nil
		}
		if err := b.run(ctx, settling, s, isListed); err != nil {
			return err
		}
	}
	return nil
}
