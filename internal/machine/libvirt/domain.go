// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"encoding/xml"
	"fmt"
	"slices"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// domain is what Windlass writes of libvirt's format for domains.
type domain struct {
	XMLName  xml.Name `xml:"domain"`
	Type     string   `xml:"type,attr"`
	Name     string   `xml:"name"`
	UUID     string   `xml:"uuid"`
	Metadata struct {
		Record record `xml:"urn:windlass:machine:v1 machine"`
	} `xml:"metadata"`
	Memory        amount    `xml:"memory"`
	CurrentMemory amount    `xml:"currentMemory"`
	VCPU          vcpus     `xml:"vcpu"`
	CPUTune       *cpuTune  `xml:"cputune"`
	OS            system    `xml:"os"`
	Features      *features `xml:"features"`
	CPU           *cpuMode  `xml:"cpu"`
	OnPoweroff    string    `xml:"on_poweroff"`
	OnReboot      string    `xml:"on_reboot"`
	OnCrash       string    `xml:"on_crash"`
	Devices       devices   `xml:"devices"`
}

type amount struct {
	Unit  string `xml:"unit,attr,omitempty"`
	Value int64  `xml:",chardata"`
}

// bytes returns the amount in bytes: libvirt always writes kibibytes.
func (a amount) bytes() int64 { return a.Value << 10 }

type vcpus struct {
	Current int64 `xml:"current,attr,omitempty"`
	Maximum int64 `xml:",chardata"`
}

// now is how many the guest has: all of them unless the domain says otherwise.
func (v vcpus) now() int64 {
	if v.Current == 0 {
		return v.Maximum
	}
	return v.Current
}

type cpuTune struct {
	Period int64 `xml:"global_period,omitempty"`
	Quota  int64 `xml:"global_quota,omitempty"`
}

type system struct {
	Type    string `xml:"type"`
	Kernel  string `xml:"kernel,omitempty"`
	Initrd  string `xml:"initrd,omitempty"`
	Cmdline string `xml:"cmdline,omitempty"`
}

type features struct {
	ACPI *struct{} `xml:"acpi"`
	APIC *struct{} `xml:"apic"`
}

type cpuMode struct {
	Mode string `xml:"mode,attr"`
}

type devices struct {
	Disks      []disk      `xml:"disk"`
	Interfaces []card      `xml:"interface"`
	Serial     []character `xml:"serial"`
	Consoles   []character `xml:"console"`
	Balloon    *balloon    `xml:"memballoon"`
	RNG        *generator  `xml:"rng"`
}

type disk struct {
	Type     string     `xml:"type,attr"`
	Device   string     `xml:"device,attr"`
	Driver   diskDriver `xml:"driver"`
	Source   diskSource `xml:"source"`
	Target   diskTarget `xml:"target"`
	ReadOnly *struct{}  `xml:"readonly"`
}

type diskDriver struct {
	Name string `xml:"name,attr,omitempty"`
	Type string `xml:"type,attr"`
}

type diskSource struct {
	File   string `xml:"file,attr,omitempty"`
	Dev    string `xml:"dev,attr,omitempty"`
	Pool   string `xml:"pool,attr,omitempty"`
	Volume string `xml:"volume,attr,omitempty"`
}

type diskTarget struct {
	Dev string `xml:"dev,attr"`
	Bus string `xml:"bus,attr"`
}

type card struct {
	Type   string     `xml:"type,attr"`
	MAC    cardMAC    `xml:"mac"`
	Source cardSource `xml:"source"`
	Model  cardModel  `xml:"model"`
}

type (
	cardMAC struct {
		Address string `xml:"address,attr"`
	}
	cardSource struct {
		Network string `xml:"network,attr,omitempty"`
		Bridge  string `xml:"bridge,attr,omitempty"`
	}
	cardModel struct {
		Type string `xml:"type,attr"`
	}
)

type character struct {
	Type   string          `xml:"type,attr"`
	Log    *characterLog   `xml:"log"`
	Target characterTarget `xml:"target"`
}

// characterLog is a file that libvirt writes to what a guest prints.
type characterLog struct {
	File   string `xml:"file,attr"`
	Append string `xml:"append,attr"`
}

type characterTarget struct {
	Type string `xml:"type,attr,omitempty"`
	Port int    `xml:"port,attr"`
}

type balloon struct {
	Model string      `xml:"model,attr"`
	Stats balloonTime `xml:"stats"`
}

type balloonTime struct {
	Period int `xml:"period,attr"`
}

type generator struct {
	Model   string          `xml:"model,attr"`
	Backend generatorSource `xml:"backend"`
}

type generatorSource struct {
	Model string `xml:"model,attr"`
	Path  string `xml:",chardata"`
}

// quotaPeriod is the period, in microseconds, in which a domain can use its quota of processor time.
const quotaPeriod = 100_000

// ballooning is how often a guest reports its memory usage, in seconds: as often as counters are read.
const ballooning = 15

// domainOf returns the domain of a machine under the name. Log is the file for what it prints, empty for none.
func domainOf(spec machine.Spec, h hostFacts, name string, made record, disks []disk, log string) (domain, error) {
	cards := make([]card, 0, len(spec.Networks))
	for _, n := range spec.Networks {
		c, err := cardOf(spec.UID, n)
		if err != nil {
			return domain{}, err
		}
		cards = append(cards, c)
	}
	size := h.limits(spec.Resources)
	out := domain{
		Type: h.domainType, Name: name, UUID: spec.UID,
		Memory:        amount{Unit: "KiB", Value: size.maxKiB},
		CurrentMemory: amount{Unit: "KiB", Value: size.kib},
		VCPU:          vcpus{Current: size.vcpus, Maximum: size.maxVCPUs},
		OS:            system{Type: "hvm", Kernel: spec.Boot.Kernel, Initrd: spec.Boot.Initrd, Cmdline: spec.Boot.Cmdline},
		OnPoweroff:    "destroy", OnReboot: "restart", OnCrash: "destroy",
		Devices: devices{Disks: disks, Interfaces: cards},
	}
	out.Metadata.Record = made
	if size.quota > 0 {
		out.CPUTune = &cpuTune{Period: quotaPeriod, Quota: size.quota}
	}
	if h.domainType != hypervisorTest {
		h.equip(&out, log)
	}
	return out, nil
}

// equip adds the devices of a real guest. Log is the file for what it prints, empty for none.
func (h hostFacts) equip(d *domain, log string) {
	if h.arch == "x86_64" || h.arch == "i686" {
		// Without ACPI there is no power button.
		d.Features = &features{ACPI: &struct{}{}, APIC: &struct{}{}}
	}
	d.CPU = &cpuMode{Mode: "host-passthrough"} // A machine never migrates, so it can have all features of its host.
	if h.domainType == emulatedQEMU {
		d.CPU.Mode = "maximum"
	}
	d.Devices.Serial = []character{{Type: "pty"}}
	if log != "" {
		d.Devices.Serial[0].Log = &characterLog{File: log, Append: "on"}
	}
	d.Devices.Consoles = []character{{Type: "pty", Target: characterTarget{Type: "serial"}}}
	d.Devices.Balloon = &balloon{Model: "virtio", Stats: balloonTime{Period: ballooning}}
	d.Devices.RNG = &generator{Model: "virtio", Backend: generatorSource{Model: "random", Path: "/dev/urandom"}}
}

// diskOf returns the disk of a domain at a position.
func (h hostFacts) diskOf(source attachment, position int, readOnly bool) disk {
	out := disk{
		Type: "volume", Device: "disk", Driver: diskDriver{Type: source.format},
		Source: diskSource{Pool: source.pool, Volume: source.volume},
		Target: diskTarget{Dev: fmt.Sprintf("vd%c", 'a'+position), Bus: "virtio"},
	}
	if source.device != "" {
		out.Type, out.Source = "block", diskSource{Dev: source.device}
	}
	if h.domainType != hypervisorTest {
		out.Driver.Name = "qemu"
	}
	if readOnly {
		out.ReadOnly = &struct{}{}
	}
	return out
}

// cardOf translates a network card.
func cardOf(uid string, n machine.Network) (card, error) {
	mac, err := macOf(uid, n)
	if err != nil {
		return card{}, err
	}
	out := card{Type: string(n.Type), MAC: cardMAC{Address: mac}, Model: cardModel{Type: "virtio"}}
	switch n.Type {
	case machine.NetworkUser:
	case machine.NetworkNamed:
		out.Source.Network = n.Source
	case machine.NetworkBridged:
		out.Source.Bridge = n.Source
	default:
		return card{}, fmt.Errorf("%w: network %q has the unknown type %.16q", machine.ErrInvalid, n.Name, n.Type)
	}
	if (n.Source == "") != (n.Type == machine.NetworkUser) {
		return card{}, fmt.Errorf("%w: network %q of type %s cannot have the source %.64q", machine.ErrInvalid, n.Name, n.Type, n.Source)
	}
	return out, nil
}

// described is what Windlass reads of a domain.
type described struct {
	XMLName  xml.Name `xml:"domain"`
	Type     string   `xml:"type,attr"`
	ID       string   `xml:"id,attr"`
	Name     string   `xml:"name"`
	UUID     string   `xml:"uuid"`
	Metadata struct {
		Record record `xml:"urn:windlass:machine:v1 machine"`
	} `xml:"metadata"`
	Memory        amount  `xml:"memory"`
	CurrentMemory amount  `xml:"currentMemory"`
	VCPU          vcpus   `xml:"vcpu"`
	CPUTune       cpuTune `xml:"cputune"`
	Devices       struct {
		Disks      []disk `xml:"disk"`
		Interfaces []struct {
			Type string `xml:"type,attr"`
		} `xml:"interface"`
		Serial []character `xml:"serial"`
	} `xml:"devices"`
}

// describe reads the description of a domain.
func describe(text string) (described, error) {
	var out described
	if err := xml.Unmarshal([]byte(text), &out); err != nil {
		return described{}, fmt.Errorf("cannot parse the description of a domain: %w", err)
	}
	return out, nil
}

// writesTo reports whether the guest can write to the volume, which has the path.
func (d *described) writesTo(vol libvirt.StorageVol, file string) bool {
	return slices.ContainsFunc(d.Devices.Disks, func(attached disk) bool {
		source := attached.Source
		same := source.File == file || source.Dev == file || source.Pool == vol.Pool && source.Volume == vol.Name
		return same && attached.ReadOnly == nil
	})
}

// resources returns the size of the domain, in the numbers of the request if the domain has that size. A guest with headroom has more memory
// until it has booted and its balloon driver has given memory back. That counts as the requested size.
func (d *described) resources() machine.Resources {
	asked := d.Metadata.Record
	out := machine.Resources{
		MilliCPU: d.VCPU.now() * 1000, MemoryBytes: d.CurrentMemory.bytes(), RootDiskBytes: asked.RootDiskBytes,
	}
	if vcpusOf(asked.MilliCPU) == d.VCPU.now() {
		out.MilliCPU = asked.MilliCPU
	}
	if kib := kibOf(asked.MemoryBytes); kib == d.CurrentMemory.Value || kib < d.CurrentMemory.Value && kib < d.Memory.Value {
		out.MemoryBytes = asked.MemoryBytes
	}
	return out
}
