// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// makingLimit is how long the disks of one machine may take to copy.
const makingLimit = time.Hour

// maxDisks is how many disks a guest can have: they are called by letters.
const maxDisks = 'z' - 'a'

// Prepare implements machine.Driver: nothing is fetched, so what is not there is not found.
func (d *driver) Prepare(ctx context.Context, spec machine.Spec) error {
	ctx, cancel := bound(ctx, callLimit)
	defer cancel()
	what := fmt.Sprintf("find image %q", spec.Image.Name)
	if err := d.allows(spec); err != nil {
		return fmt.Errorf("cannot %s: %w", what, err)
	}
	err := tell(ctx, d.acting, func(api *libvirt.Libvirt) error {
		if spec.Image.Name == "" {
			return nil
		}
		_, err := source(api, spec.Image.Name)
		return err
	})
	return explain(ctx, what, err)
}

// Create implements machine.Driver. Disks may take longer to copy than a call may last: the copy goes on beside, and the next call waits for it.
func (d *driver) Create(ctx context.Context, spec machine.Spec) (machine.Observed, error) {
	ctx, cancel := bound(ctx, callLimit)
	defer cancel()
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
	what := fmt.Sprintf("create a domain for machine %q", spec.UID)
	work, err := d.making.begin(spec.Identity, func() (func() error, error) {
		p, err := d.plan(ctx, spec)
		if err != nil {
			return nil, fmt.Errorf("cannot %s: %w", what, err)
		}
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), makingLimit)
		return func() error {
			defer cancel()
			return d.carryOut(detached, p)
		}, nil
	})
	if err == nil {
		err = work.wait(ctx)
	}
	if err != nil {
		return machine.Observed{}, err
	}
	return d.get(ctx, spec.Identity)
}

// plan is what there is to do for a new machine.
type plan struct {
	spec    machine.Spec
	host    hostFacts
	pool    libvirt.StoragePool
	volumes []wanted
	disks   []disk
}

// plan finds out what there is to do, and refuses what cannot be done.
func (d *driver) plan(ctx context.Context, spec machine.Spec) (*plan, error) {
	if err := errors.Join(check(spec), d.allows(spec)); err != nil {
		return nil, err
	}
	host, err := d.host(ctx)
	if err != nil {
		return nil, err
	}
	if err := host.checkSize(spec.Resources); err != nil {
		return nil, err
	}
	p := &plan{spec: spec, host: host}
	err = tell(ctx, d.acting, func(api *libvirt.Libvirt) error {
		if err := p.addRoot(api); err != nil {
			return err
		}
		for _, wish := range spec.Disks {
			if err := p.addDisk(api, wish); err != nil {
				return err
			}
		}
		if err := p.addSeed(); err != nil || len(p.volumes) == 0 {
			return err
		}
		p.pool, err = d.pool(api)
		return err
	})
	if err != nil {
		return nil, explain(ctx, "find its disks", err)
	}
	for i := range p.disks { // The pool is known only now.
		if source := &p.disks[i].Source; source.Volume != "" && source.Pool == "" {
			source.Pool = p.pool.Name
		}
	}
	_, err = domainOf(spec, host, "", record{}, p.disks)
	return p, err
}

// check refuses what no libvirt can do, and what this driver has no use for.
func check(spec machine.Spec) error {
	_, uuid := uuidOf(spec.UID)
	switch {
	case spec.Installation == "" || !uuid:
		return fmt.Errorf("%w: it has no identity, or its UID is no UUID", machine.ErrInvalid)
	case strings.ContainsAny(spec.Namespace+spec.Name, "/\n") || spec.Namespace == "" || spec.Name == "":
		return fmt.Errorf("%w: neither its name nor its namespace can be part of a domain's name", machine.ErrInvalid)
	case len(spec.Command) > 0 || len(spec.Args) > 0 || len(spec.Env) > 0 || len(spec.Ports) > 0:
		return fmt.Errorf("%w: command, args, env and ports are for containers", machine.ErrUnsupported)
	case spec.Image.Name == "" && spec.Boot.Kernel == "" && len(spec.Disks) == 0:
		return fmt.Errorf("%w: it has neither an image nor a kernel nor a disk to boot from", machine.ErrInvalid)
	case spec.Boot.Kernel == "" && (spec.Boot.Initrd != "" || spec.Boot.Cmdline != ""):
		return fmt.Errorf("%w: it has an initrd or a command line and no kernel", machine.ErrInvalid)
	}
	for _, file := range []string{spec.Boot.Kernel, spec.Boot.Initrd} {
		if file != "" && !path.IsAbs(file) {
			return fmt.Errorf("%w: %.128q is no whole path of a file to boot", machine.ErrInvalid, file)
		}
	}
	return nil
}

// allows refuses paths that the host does not allow.
func (d *driver) allows(spec machine.Spec) error {
	files := []string{spec.Image.Name, spec.Boot.Kernel, spec.Boot.Initrd}
	for _, wish := range spec.Disks {
		files = append(files, wish.Source)
	}
	for _, file := range files {
		if err := d.endpoint.allows(file); err != nil {
			return err
		}
	}
	return nil
}

// addRoot adds the disk that is made from the image.
func (p *plan) addRoot(api *libvirt.Libvirt) error {
	size := p.spec.Resources.RootDiskBytes
	if p.spec.Image.Name == "" {
		if size > 0 {
			return p.make(wanted{name: "root", format: formatRaw, capacity: size}, false)
		}
		return nil
	}
	image, err := source(api, p.spec.Image.Name)
	if err != nil {
		return fmt.Errorf("cannot find image %q: %w", p.spec.Image.Name, err)
	}
	if size != 0 && size < image.capacity {
		return fmt.Errorf("%w: its root disk has %d bytes, and its image %d", machine.ErrInvalid, size, image.capacity)
	}
	return p.make(wanted{name: "root", format: image.format, capacity: max(size, image.capacity), copied: &image}, false)
}

// addDisk adds a disk that is empty, or somebody else's.
func (p *plan) addDisk(api *libvirt.Libvirt, wish machine.Disk) error {
	switch {
	case wish.SizeBytes > 0 && wish.Source == "":
		return p.make(wanted{name: "disk-" + wish.Name, format: formatRaw, capacity: wish.SizeBytes}, wish.ReadOnly)
	case wish.Source == "" || wish.SizeBytes != 0:
		return fmt.Errorf("%w: disk %q has to have either a size or a source", machine.ErrInvalid, wish.Name)
	case strings.HasPrefix(path.Clean(wish.Source), "/dev/"):
		return p.attach(disk{Type: "block", Driver: diskDriver{Type: formatRaw}, Source: diskSource{Dev: wish.Source}}, wish.ReadOnly)
	}
	there, err := source(api, wish.Source)
	if err != nil {
		return fmt.Errorf("cannot find disk %q: %w", wish.Source, err)
	}
	return p.attach(disk{
		Type: "volume", Driver: diskDriver{Type: there.format}, Source: diskSource{Pool: there.vol.Pool, Volume: there.vol.Name},
	}, wish.ReadOnly)
}

// addSeed adds the disk with the first-boot configuration.
func (p *plan) addSeed() error {
	if p.spec.CloudInit.IsZero() {
		return nil
	}
	image, err := seedImage(p.spec)
	if err != nil {
		return err
	}
	return p.make(wanted{name: "seed", format: formatRaw, capacity: int64(len(image)), content: image}, true)
}

// make adds a disk with a volume of its own.
func (p *plan) make(w wanted, readOnly bool) error {
	w.name = volumePrefix(p.spec.Identity) + w.name
	p.volumes = append(p.volumes, w)
	return p.attach(disk{Type: "volume", Driver: diskDriver{Type: w.format}, Source: diskSource{Volume: w.name}}, readOnly)
}

// attach adds a disk.
func (p *plan) attach(d disk, readOnly bool) error {
	if len(p.disks) > maxDisks {
		return fmt.Errorf("%w: it has more than %d disks", machine.ErrInvalid, maxDisks)
	}
	d.Device = "disk"
	d.Target = diskTarget{Dev: fmt.Sprintf("vd%c", 'a'+len(p.disks)), Bus: "virtio"}
	if p.host.domainType != hypervisorTest {
		d.Driver.Name = "qemu"
	}
	if readOnly {
		d.ReadOnly = &struct{}{}
	}
	p.disks = append(p.disks, d)
	return nil
}
