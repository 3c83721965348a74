// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"time"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// image is a volume that disks are copied from.
type image struct {
	vol      libvirt.StorageVol
	format   string
	bytes    int64
	modified time.Time
}

// attachment is what a disk of a domain is connected to: a volume, or a device of the host.
type attachment struct {
	pool, volume string
	device       string
	format       string
}

// findImage finds the image that an object names. Disks of machines are refused, and so is an image that refers to other files: libvirt would read
// them as root.
func (e endpoint) findImage(ctx context.Context, api *libvirt.Libvirt, made libvirt.StoragePool, holders []found, name string) (image, error) {
	if err := e.allowsImage(name); err != nil {
		return image{}, err
	}
	vol, file, err := e.find(api, made, holders, name, false)
	if err != nil {
		return image{}, fmt.Errorf("cannot find image %q: %w", name, err)
	}
	if e.allowsDisk(vol.Pool+"/"+vol.Name) == nil || e.allowsDisk(file) == nil {
		return image{}, fmt.Errorf("%w: image %.128q is among the shared disks, which guests write to", machine.ErrInvalid, name)
	}
	out, err := e.inspect(ctx, api, vol)
	if err != nil {
		return image{}, fmt.Errorf("cannot use image %q: %w", name, err)
	}
	return out, nil
}

// findDisk finds the disk that an object names: a shared disk, or an image if it is only read. Guests write to shared disks, so the
// format cannot be detected from their content: they are raw.
func (e endpoint) findDisk(ctx context.Context, api *libvirt.Libvirt, made libvirt.StoragePool, holders []found, g guestDisk) (attachment, error) {
	shared := e.allowsDisk(g.source)
	if shared != nil && !g.readOnly {
		return attachment{}, shared
	}
	if shared != nil && e.allowsImage(g.source) != nil {
		return attachment{}, shared
	}
	if clean := path.Clean(g.source); g.isDevice() {
		if err := refuseMade(api, made, clean); err != nil {
			return attachment{}, err
		}
		return attachment{device: clean, format: formatRaw}, nil
	}
	if shared != nil {
		found, err := e.findImage(ctx, api, made, holders, g.source)
		return attachment{pool: found.vol.Pool, volume: found.vol.Name, format: found.format}, err
	}
	vol, _, err := e.find(api, made, holders, g.source, true)
	if err != nil {
		return attachment{}, fmt.Errorf("cannot find disk %q: %w", g.source, err)
	}
	return attachment{pool: vol.Pool, volume: vol.Name, format: formatRaw}, nil
}

// checkBootFiles refuses files to boot that the host does not allow: a guest can read its initrd.
func (e endpoint) checkBootFiles(api *libvirt.Libvirt, made libvirt.StoragePool, boot machine.Boot) error {
	for _, file := range []string{boot.Kernel, boot.Initrd} {
		if file == "" {
			continue
		}
		if err := e.allowsImage(file); err != nil {
			return err
		}
		if err := refuseMade(api, made, path.Clean(file)); err != nil {
			return err
		}
	}
	return nil
}

// find finds a volume and its path, and refuses it if it belongs to a machine or, unless it is shared, if a guest writes to it.
func (e endpoint) find(
	api *libvirt.Libvirt, made libvirt.StoragePool, holders []found, name string, shared bool,
) (libvirt.StorageVol, string, error) {
	vol, err := findVolume(api, name)
	if err != nil {
		return vol, "", err
	}
	file, err := api.StorageVolGetPath(vol)
	if err != nil {
		return vol, "", err
	}
	if vol.Pool == made.Name {
		return vol, "", errMade(name)
	}
	if err := refuseMade(api, made, file); err != nil {
		return vol, "", err
	}
	return vol, file, refuseHeld(holders, vol, file, shared)
}

// ownName matches the names of volumes that were made for machines, of any installation.
var ownName = regexp.MustCompile(`^windlass-[0-9a-f]{8}-[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}-`)

func errMade(name string) error {
	return fmt.Errorf("%w: %.128q is a disk that Windlass made, which no VirtualMachine can name", machine.ErrInvalid, name)
}

// refuseMade refuses a path among the disks that were made for machines.
func refuseMade(api *libvirt.Libvirt, made libvirt.StoragePool, file string) error {
	target := ""
	if made.Name != "" {
		var err error
		if target, err = targetOf(api, made); err != nil {
			return err
		}
	}
	if target != "" && within(target, file) || ownName.MatchString(path.Base(file)) {
		return errMade(file)
	}
	return nil
}

// refuseHeld refuses a volume that the metadata of a domain lists as made for a machine, and, unless it is shared, one that a guest writes to.
func refuseHeld(holders []found, vol libvirt.StorageVol, file string, shared bool) error {
	for i := range holders {
		d := &holders[i]
		if slices.Contains(d.record().Volumes, volume{Pool: vol.Pool, Name: vol.Name}) {
			return errMade(vol.Pool + "/" + vol.Name)
		}
		if !shared && d.writesTo(vol, file) {
			return fmt.Errorf("%w: domain %q writes to image %q", machine.ErrInvalid, d.Name, vol.Name)
		}
	}
	return nil
}

// inspect reads the format of an image from its header. libvirt must agree, because it copies the image in the format that it has detected.
func (e endpoint) inspect(ctx context.Context, api *libvirt.Libvirt, vol libvirt.StorageVol) (image, error) {
	v, err := describeVolume(api, vol)
	if err != nil {
		return image{}, err
	}
	out := image{vol: vol, format: formatRaw, bytes: v.Capacity.Value, modified: v.modified()}
	switch v.Target.Format.Type {
	case formatQCOW2:
		out.format = formatQCOW2
	case formatRaw, "iso", "unknown", "":
	default:
		return image{}, fmt.Errorf("%w: it has the format %.32q, and must be raw or qcow2", machine.ErrInvalid, v.Target.Format.Type)
	}
	if v.Backing != "" {
		return image{}, errBacking
	}
	if e.hypervisor == hypervisorTest {
		return out, nil // Its volumes have no content.
	}
	head, err := e.readHeader(ctx, vol)
	if err != nil {
		return image{}, fmt.Errorf("cannot read its header: %w", err)
	}
	format, err := formatOf(head)
	if err == nil && format != out.format {
		err = fmt.Errorf("%w: it is %s, but libvirt has detected %s: refresh its storage pool", machine.ErrInvalid, format, out.format)
	}
	return out, err
}
