// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The namespace and the prefix of the metadata element that makes a domain ours.
const (
	metadataNamespace = "urn:windlass:machine:v1"
	metadataPrefix    = "windlass"
)

// record is that element. It holds no secrets: everybody with access to the host can read it.
type record struct {
	XMLName xml.Name `xml:"urn:windlass:machine:v1 machine"`

	Installation string `xml:"installation,attr"`
	UID          string `xml:"uid,attr"`
	Namespace    string `xml:"namespace,attr"`
	Name         string `xml:"name,attr"`
	Hash         string `xml:"hash,attr"`

	// The requested size. A domain itself has whole processors and whole mebibytes.
	MilliCPU      int64 `xml:"milli-cpu,attr"`
	MemoryBytes   int64 `xml:"memory-bytes,attr"`
	RootDiskBytes int64 `xml:"root-disk-bytes,attr,omitempty"`

	// Run identifies the last run, and Started is when it began. Both are empty before the first one.
	Run     string `xml:"run,attr,omitempty"`
	Started string `xml:"started,attr,omitempty"`

	// Volumes were made for the machine and are removed with it.
	Volumes []volume `xml:"volume"`
}

// volume is one that was made for a machine.
type volume struct {
	Pool string `xml:"pool,attr"`
	Name string `xml:"name,attr"`
}

// recordOf returns the record of a new machine.
func recordOf(spec machine.Spec) record {
	return record{
		Installation: spec.Installation, UID: spec.UID, Namespace: spec.Namespace, Name: spec.Name, Hash: spec.Hash,
		MilliCPU: spec.Resources.MilliCPU, MemoryBytes: spec.Resources.MemoryBytes, RootDiskBytes: spec.Resources.RootDiskBytes,
	}
}

// sized returns the record of the same machine with another size.
func (r *record) sized(to machine.Resources) record {
	sized := *r
	sized.MilliCPU, sized.MemoryBytes, sized.RootDiskBytes = to.MilliCPU, to.MemoryBytes, to.RootDiskBytes
	return sized
}

// identity returns the identity of the machine.
func (r *record) identity() machine.Identity {
	return machine.Identity{Installation: r.Installation, UID: r.UID, Namespace: r.Namespace, Name: r.Name}
}

// disks returns the names of the disks that were made for the machine and that its guest can write to, sorted.
func (r *record) disks() []string {
	var out []string
	prefix := volumePrefix(r.identity())
	for _, v := range r.Volumes {
		role, own := strings.CutPrefix(strings.TrimSuffix(v.Name, qcow2Suffix), prefix)
		if own && role != roleSeed {
			out = append(out, role)
		}
	}
	slices.Sort(out)
	return out
}

// ours reports whether the record belongs to the domain with the UUID. A clone of a domain has the same metadata but another UUID, and is not ours.
func (r *record) ours(uuid string) bool {
	return r.Installation != "" && r.UID != "" && strings.EqualFold(r.UID, uuid)
}

// started is when the last run began, zero if unknown.
func (r *record) started() time.Time {
	at, err := time.Parse(time.RFC3339Nano, r.Started)
	if err != nil {
		return time.Time{}
	}
	return at
}

// keep writes the record to the running domain, to its definition, or to both.
func (d *driver) keep(ctx context.Context, dom libvirt.Domain, r record, where libvirt.DomainModificationImpact) error {
	text, err := xml.Marshal(r)
	if err != nil {
		return fmt.Errorf("cannot write metadata: %w", err)
	}
	return tell(ctx, d.acting, func(api *libvirt.Libvirt) error {
		return api.DomainSetMetadata(dom, int32(libvirt.DomainMetadataElement), libvirt.OptString{string(text)},
			libvirt.OptString{metadataPrefix}, libvirt.OptString{metadataNamespace}, where)
	})
}

// uuidOf parses a UID. False if it is not a UUID: no domain has it then.
func uuidOf(uid string) (libvirt.UUID, bool) {
	var out libvirt.UUID
	raw, err := hex.DecodeString(strings.ReplaceAll(uid, "-", ""))
	if err != nil || len(raw) != len(out) || len(uid) != 36 {
		return out, false
	}
	copy(out[:], raw)
	return out, true
}

// textOf formats a UUID as Kubernetes does.
func textOf(uuid libvirt.UUID) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", uuid[:4], uuid[4:6], uuid[6:8], uuid[8:10], uuid[10:])
}

// maxNice bounds the readable part of a domain's name: libvirt uses names as file names.
const maxNice = 150

// namesOf returns the names that a domain can get, the shortest first.
func namesOf(id machine.Identity) []string {
	nice := id.Namespace + "-" + id.Name
	if len(nice) > maxNice {
		nice = nice[:maxNice]
	}
	return []string{fmt.Sprintf("%s-%.8s", nice, id.UID), nice + "-" + id.UID}
}

// volumePrefix is the prefix of the names of all volumes that are made for the machine, and of no others: without a domain, the name alone
// identifies a volume.
func volumePrefix(id machine.Identity) string {
	installation := sha256.Sum256([]byte(id.Installation))
	return fmt.Sprintf("windlass-%x-%s-", installation[:4], id.UID)
}

// macOf returns the address of a network card: the requested one, or one derived from the UID.
func macOf(uid string, n machine.Network) (string, error) {
	if n.MAC == "" {
		sum := sha256.Sum256([]byte(uid + "/" + n.Name))
		return fmt.Sprintf("52:54:00:%02x:%02x:%02x", sum[0], sum[1], sum[2]), nil
	}
	mac, err := net.ParseMAC(n.MAC)
	if err != nil || len(mac) != 6 || mac[0]&1 == 1 {
		return "", fmt.Errorf("%w: network %q has the MAC address %.32q, which is not valid for a card", machine.ErrInvalid, n.Name, n.MAC)
	}
	return mac.String(), nil
}
