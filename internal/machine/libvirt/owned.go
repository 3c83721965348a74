// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The name of a volume identifies its machine, its role and its format: the machine's prefix, the role, and a suffix unless it is raw. The content
// identifies nothing, because a guest can write anything to a raw volume.
//
// Markers are small volumes beside it that mean: no guest has ever used this volume. A volume without a marker may hold data and is never removed to
// make another one. So a lost marker costs space, never data.
const (
	qcow2Suffix = ".qcow2"
	// makingMarker begins before the volume is made and ends when it is whole. What a crash leaves is made again.
	makingMarker = ".making"
	// newMarker begins when the volume is whole and ends before the domain is defined. It ends with a tag of what the volume was made from.
	newMarker = ".new-"
)

// markerBytes is the size of a marker. Some pools have no empty volumes.
const markerBytes = 512

// inventory is the names of the volumes that a pool has for one machine.
type inventory struct {
	prefix string
	names  []string
}

// listOwn lists the volumes that a pool has for a machine.
func listOwn(api *libvirt.Libvirt, pool libvirt.StoragePool, id machine.Identity) (inventory, error) {
	if pool.Name == "" {
		return inventory{prefix: volumePrefix(id)}, nil
	}
	volumes, _, err := api.StoragePoolListAllVolumes(pool, 1, 0)
	if err != nil {
		return inventory{}, fmt.Errorf("cannot list the volumes of pool %q: %w", pool.Name, err)
	}
	out := inventory{prefix: volumePrefix(id)}
	for _, vol := range volumes {
		if strings.HasPrefix(vol.Name, out.prefix) {
			out.names = append(out.names, vol.Name)
		}
	}
	slices.Sort(out.names)
	return out, nil
}

// candidates returns the names that the volume of a disk can have.
func (i inventory) candidates(g guestDisk) []string {
	return []string{i.prefix + g.role, i.prefix + g.role + qcow2Suffix}
}

// has reports whether there is such a volume.
func (i inventory) has(volume string) bool { return slices.Contains(i.names, volume) }

// markersOf returns the markers of a volume, the one that must go last at the end.
func (i inventory) markersOf(volume string) []string {
	var out []string
	for _, name := range i.names {
		if strings.HasPrefix(name, volume+newMarker) {
			out = append(out, name)
		}
	}
	if i.has(volume + makingMarker) {
		out = append(out, volume+makingMarker)
	}
	return out
}

// used returns the volume that may hold a guest's data, empty if there is none. ErrDiskMismatch if there are several.
func (i inventory) used(g guestDisk) (string, error) {
	if g.content != nil {
		return "", nil // No guest writes to it.
	}
	var out []string
	for _, volume := range i.candidates(g) {
		if i.has(volume) && len(i.markersOf(volume)) == 0 {
			out = append(out, volume)
		}
	}
	if len(out) > 1 {
		return "", fmt.Errorf("%w: both %q and %q may hold its data: remove or rename the one that does not", machine.ErrDiskMismatch,
			out[0], out[1])
	}
	return strings.Join(out, ""), nil
}

// isMissing reports whether a disk would have to be made.
func (i inventory) isMissing(g guestDisk) bool {
	used, err := i.used(g)
	return used == "" && err == nil
}

// leftovers returns the volumes for a disk that no guest has used.
func (i inventory) leftovers(g guestDisk) []string {
	var out []string
	for _, volume := range i.candidates(g) {
		if marked := len(i.markersOf(volume)) > 0; marked || g.content != nil && i.has(volume) {
			out = append(out, volume)
		}
	}
	return out
}

// isFinished reports whether the volume is whole and was made from what the tag stands for.
func (i inventory) isFinished(volume, tag string) bool {
	return i.has(volume) && slices.Equal(i.markersOf(volume), []string{volume + newMarker + tag})
}

// attach returns the volume of a disk: the used one, or else one that is whole. ErrImageNotFound if Prepare has not made it.
func (i inventory) attach(pool libvirt.StoragePool, g guestDisk) (attachment, error) {
	volume, err := i.used(g)
	if err != nil {
		return attachment{}, err
	}
	if volume == "" && g.kept {
		return attachment{}, i.lost(pool, g)
	}
	for _, candidate := range i.candidates(g) {
		if volume == "" && i.has(candidate) && !i.has(candidate+makingMarker) {
			volume = candidate
		}
	}
	if volume == "" {
		return attachment{}, fmt.Errorf("%w: volume %q has not been made", machine.ErrImageNotFound, i.prefix+g.role)
	}
	return attachment{pool: pool.Name, volume: volume, format: formatIn(volume)}, nil
}

// lost says that a disk that may hold data is gone. A disk that no guest has used is not that one, unless only its markers say so: then
// somebody has put them beside a disk that was restored, or restored them with it.
func (i inventory) lost(pool libvirt.StoragePool, g guestDisk) error {
	for _, volume := range i.leftovers(g) {
		if i.has(volume) {
			return fmt.Errorf("%w: disk %q was made before, but its volume %q in pool %q is marked as never used: remove %s if it holds its data",
				machine.ErrDiskMismatch, g.role, volume, pool.Name, strings.Join(i.markersOf(volume), " and "))
		}
	}
	return fmt.Errorf("%w: disk %q was made before, and pool %q does not have its volume %q", machine.ErrDiskLost, g.role, pool.Name,
		i.prefix+g.role)
}

// formatIn returns the format that the name of a volume says.
func formatIn(volume string) string {
	if strings.HasSuffix(volume, qcow2Suffix) {
		return formatQCOW2
	}
	return formatRaw
}

// unmark removes the markers of volumes that are whole, and returns a function that restores them.
func (i inventory) unmark(api *libvirt.Libvirt, pool libvirt.StoragePool, volumes []volume) (restore func() error, err error) {
	var gone []string
	restore = func() error {
		var errs []error
		for _, marker := range gone {
			errs = append(errs, createMarker(api, pool, marker))
		}
		return errors.Join(errs...)
	}
	for _, v := range volumes {
		for _, marker := range i.markersOf(v.Name) {
			if err := removeVolume(api, pool, marker); err != nil {
				return restore, errors.Join(err, restore())
			}
			gone = append(gone, marker)
		}
	}
	return restore, nil
}

// createMarker creates a marker. Success if it is there.
func createMarker(api *libvirt.Libvirt, pool libvirt.StoragePool, name string) error {
	return createVolume(api, pool, name, markerBytes)
}

// fits returns an error if a volume that may hold data cannot be the disk. A person has to decide then.
func fits(api *libvirt.Libvirt, pool libvirt.StoragePool, name string, g guestDisk) error {
	vol, err := api.StorageVolLookupByName(pool, name)
	if err != nil {
		return err
	}
	format := formatIn(name)
	size, err := sizeOf(api, vol, format)
	if err != nil {
		return err
	}
	if size < g.bytes {
		return fmt.Errorf("%w: volume %q has %d bytes, the spec asks for %d: change the spec, or resize or remove the volume",
			machine.ErrDiskMismatch, name, size, g.bytes)
	}
	if g.role != roleRoot || format != formatRaw {
		return nil
	}
	v, err := describeVolume(api, vol)
	if err == nil && v.Target.Format.Type == formatQCOW2 {
		err = fmt.Errorf("%w: volume %q is raw by its name and has the header of a qcow2 image: if it is one, rename it to %q, or else remove it",
			machine.ErrDiskMismatch, name, name+qcow2Suffix)
	}
	return err
}
