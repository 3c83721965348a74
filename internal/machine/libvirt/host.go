// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"bufio"
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// hostFacts are what a host reports about itself.
type hostFacts struct {
	version     string
	cpus        int64
	memoryBytes int64
	// arch is the architecture of the host, by libvirt's name.
	arch string
	// domainType is what runs guests: kvm, qemu or test.
	domainType string
	// headroom of the endpoint.
	headroom int64
}

// Info implements machine.Driver.
func (d *driver) Info(ctx context.Context) (machine.Info, error) {
	h, err := d.host(ctx)
	if err != nil {
		return machine.Info{}, err
	}
	return machine.Info{
		Driver:   machine.DriverLibvirt,
		Version:  h.version,
		Capacity: machine.Resources{MilliCPU: h.cpus * 1000, MemoryBytes: h.memoryBytes},
		Capabilities: machine.Capabilities{
			LiveCPU:    true,
			LiveMemory: h.headroom > 1,
			// The mock's volumes and guests keep the size of their disks.
			LiveRootDisk: h.domainType != hypervisorTest,
			RootDisk:     h.domainType != hypervisorTest,
			Disks:        true,
			Guests:       true,
			Output:       h.domainType != hypervisorTest,
			Console:      h.domainType != hypervisorTest,
		},
		Emulated: h.domainType == emulatedQEMU,
	}, nil
}

// pool returns the pool in which disks are made. ErrNoStoragePool if there is none.
func (d *driver) pool(api *libvirt.Libvirt) (libvirt.StoragePool, error) {
	pool, err := api.StoragePoolLookupByName(d.endpoint.pool)
	if is(err, libvirt.ErrNoStoragePool) {
		return pool, fmt.Errorf("storage pool %q, in which disks are made, does not exist: %w", d.endpoint.pool, err)
	}
	return pool, err
}

// poolFor returns the pool in which the disks of a machine are made. A machine without such disks needs none, and gets a pool without a name where
// there is none.
func (d *driver) poolFor(api *libvirt.Libvirt, guest []guestDisk) (libvirt.StoragePool, error) {
	pool, err := d.pool(api)
	if is(err, libvirt.ErrNoStoragePool) && !slices.ContainsFunc(guest, func(g guestDisk) bool { return g.role != "" }) {
		return libvirt.StoragePool{}, nil
	}
	return pool, err
}

// host reads the facts of the host.
func (d *driver) host(ctx context.Context) (hostFacts, error) {
	out, err := call(ctx, d.looking, func(api *libvirt.Libvirt) (hostFacts, error) {
		var out hostFacts
		version, err := api.ConnectGetLibVersion()
		if err != nil {
			return out, err
		}
		out.version = fmt.Sprintf("%d.%d.%d", version/1_000_000, version/1000%1000, version%1000)
		_, kib, cpus, _, _, _, _, _, err := api.NodeGetInfo()
		if err != nil {
			return out, err
		}
		out.cpus, out.memoryBytes = int64(cpus), signed(kib)<<10
		text, err := api.ConnectGetCapabilities()
		if err != nil {
			return out, err
		}
		out.arch, out.domainType, err = readCapabilities(text)
		return out, err
	})
	if err != nil {
		return hostFacts{}, explain(ctx, "read the facts of the host", err)
	}
	out.headroom = d.endpoint.headroom
	if out.domainType == acceleratedKVM && !d.runsKVM(out.arch) {
		out.domainType = emulatedQEMU
	}
	if d.endpoint.accelerator != "" && d.endpoint.hypervisor == hypervisorQEMU {
		out.domainType = d.endpoint.accelerator
	}
	return out, nil
}

// capabilities is what Windlass reads of libvirt's format for hosts.
type capabilities struct {
	Host struct {
		Arch string `xml:"cpu>arch"`
	} `xml:"host"`
	Guests []struct {
		Type string `xml:"os_type"`
		Arch struct {
			Name    string `xml:"name,attr"`
			Domains []struct {
				Type string `xml:"type,attr"`
			} `xml:"domain"`
		} `xml:"arch"`
	} `xml:"guest"`
}

// readCapabilities returns the host's architecture and the fastest way that libvirt offers to run guests of it.
func readCapabilities(text string) (arch, domainType string, err error) {
	var caps capabilities
	if err := xml.Unmarshal([]byte(text), &caps); err != nil {
		return "", "", fmt.Errorf("cannot parse capabilities: %w", err)
	}
	arch = caps.Host.Arch
	var types []string
	for _, guest := range caps.Guests {
		if guest.Type != "hvm" || guest.Arch.Name != arch {
			continue
		}
		for _, offered := range guest.Arch.Domains {
			types = append(types, offered.Type)
		}
	}
	for _, domainType := range []string{acceleratedKVM, emulatedQEMU, hypervisorTest} {
		if slices.Contains(types, domainType) {
			return arch, domainType, nil
		}
	}
	return "", "", fmt.Errorf("%w: the host cannot run guests of the architecture %s: install QEMU", machine.ErrUnsupported, arch)
}

// accelerates reports whether guests really run with KVM. It is not enough that /dev/kvm can be opened: on a host that is a guest itself, without
// the processor's extensions, QEMU starts with KVM and the guest hangs. On x86, /proc/cpuinfo lists the extensions. Other architectures have
// them or have no KVM.
func accelerates(arch string, cpuinfo func() (string, error)) bool {
	if arch != "x86_64" && arch != "i686" {
		return true
	}
	text, err := cpuinfo()
	if err != nil {
		return false
	}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		key, flags, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(key) != "flags" {
			continue
		}
		has := strings.Fields(flags)
		return slices.Contains(has, "vmx") || slices.Contains(has, "svm")
	}
	return false
}

// localKVM asks the kernel of this machine, which is the host's if the socket is not forwarded.
func localKVM(arch string) bool {
	return accelerates(arch, func() (string, error) {
		text, err := os.ReadFile("/proc/cpuinfo")
		return string(text), err
	})
}
