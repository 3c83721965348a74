// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/internal/machine"
)

// maxDisks is how many disks a guest can have: letters name them.
const maxDisks = 'z' - 'a'

// The roles of the disks that are made for a machine. They are part of the names of their volumes.
const (
	roleRoot = machine.RootDisk
	roleSeed = "seed"
)

// guestDisk is a disk as the guest sees it.
type guestDisk struct {
	// role of a disk that is created for the machine. Empty for a disk of another owner.
	role string
	// bytes that the disk must have. Zero: as many as its image.
	bytes int64
	// image that the disk is a copy of. Empty for none.
	image string
	// content of a disk that no guest writes to.
	content []byte
	// source is the name of a disk of another owner.
	source   string
	readOnly bool
	// kept says that the disk was made before, so that it is not made again.
	kept bool
}

// isDevice reports whether the disk is a device of the host.
func (g guestDisk) isDevice() bool { return strings.HasPrefix(path.Clean(g.source), "/dev/") }

// namesVolume reports whether the disk is, or has yet to be copied from, a volume that the spec names, and that another guest may hold.
func (g guestDisk) namesVolume() bool {
	return g.source != "" && !g.isDevice() || g.image != "" && !g.kept
}

// disksOf returns the disks of a machine in the guest's order: the root disk, those that the spec lists, the seed.
func disksOf(spec machine.Spec) ([]guestDisk, error) {
	var out []guestDisk
	if spec.Image.Name != "" || spec.Resources.RootDiskBytes > 0 {
		out = append(out, guestDisk{role: roleRoot, bytes: spec.Resources.RootDiskBytes, image: spec.Image.Name})
	}
	for _, wish := range spec.Disks {
		switch {
		case (wish.SizeBytes > 0) == (wish.Source != ""):
			return nil, fmt.Errorf("%w: disk %q must have either a size or a source", machine.ErrInvalid, wish.Name)
		case wish.Source != "":
			out = append(out, guestDisk{source: wish.Source, readOnly: wish.ReadOnly})
		case len(validation.IsDNS1123Label(wish.Name)) > 0:
			return nil, fmt.Errorf("%w: the name of disk %.64q is not a DNS label", machine.ErrInvalid, wish.Name)
		default:
			out = append(out, guestDisk{role: machine.DataDisk(wish.Name), bytes: wish.SizeBytes, readOnly: wish.ReadOnly})
		}
	}
	if !spec.CloudInit.IsZero() {
		content, err := seedImage(spec)
		if err != nil {
			return nil, err
		}
		out = append(out, guestDisk{role: roleSeed, bytes: int64(len(content)), content: content, readOnly: true})
	}
	for i := range out {
		out[i].kept = out[i].role != "" && slices.Contains(spec.Kept, out[i].role)
	}
	if len(out) > maxDisks {
		return nil, fmt.Errorf("%w: it has more than %d disks", machine.ErrInvalid, maxDisks)
	}
	return out, nil
}

// check refuses what no libvirt can do, and what this driver does not use.
func check(spec machine.Spec) error {
	_, uuid := uuidOf(spec.UID)
	switch {
	case spec.Installation == "" || !uuid:
		return fmt.Errorf("%w: it has no identity, or its UID is not a UUID", machine.ErrInvalid)
	case strings.ContainsAny(spec.Namespace+spec.Name, "/\n") || spec.Namespace == "" || spec.Name == "":
		return fmt.Errorf("%w: its name and namespace cannot be part of a domain's name", machine.ErrInvalid)
	case len(spec.Command) > 0 || len(spec.Args) > 0 || len(spec.Env) > 0 || len(spec.Ports) > 0:
		return fmt.Errorf("%w: command, args, env and ports are for containers", machine.ErrUnsupported)
	case spec.Image.PullPolicy == machine.PullAlways || spec.Image.Registry != nil:
		return fmt.Errorf("%w: image.pullPolicy Always and image.pullSecret are for containers: images of guests are not pulled", machine.ErrUnsupported)
	case spec.Image.Name == "" && spec.Boot.Kernel == "" && len(spec.Disks) == 0:
		return fmt.Errorf("%w: it has no image, kernel or disk to boot from", machine.ErrInvalid)
	case spec.Boot.Kernel == "" && (spec.Boot.Initrd != "" || spec.Boot.Cmdline != ""):
		return fmt.Errorf("%w: it has an initrd or a command line but no kernel", machine.ErrInvalid)
	}
	for _, file := range []string{spec.Boot.Kernel, spec.Boot.Initrd} {
		if file != "" && !path.IsAbs(file) {
			return fmt.Errorf("%w: %.128q is not an absolute path of a file to boot", machine.ErrInvalid, file)
		}
		// QEMU follows a link before it goes back up, and so to another file than the one that was allowed.
		if clean := path.Clean(file); file != "" && file != clean {
			return fmt.Errorf("%w: %.128q is not a plain path of a file to boot: write %.128q", machine.ErrInvalid, file, clean)
		}
	}
	for _, n := range spec.Networks {
		if _, err := cardOf(spec.UID, n); err != nil {
			return err
		}
	}
	return checkLeast(spec.Resources)
}
