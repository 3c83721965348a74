// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The formats of disks that guests are given.
const (
	formatRaw   = "raw"
	formatQCOW2 = "qcow2"
)

// volumeXML is what Windlass writes and reads of libvirt's format for volumes.
type volumeXML struct {
	XMLName    xml.Name    `xml:"volume"`
	Name       string      `xml:"name"`
	Capacity   volumeSize  `xml:"capacity"`
	Allocation *volumeSize `xml:"allocation"`
	Target     struct {
		Path   string `xml:"path,omitempty"`
		Format struct {
			Type string `xml:"type,attr"`
		} `xml:"format"`
		Modified string `xml:"timestamps>mtime,omitempty"`
	} `xml:"target"`
	Backing string `xml:"backingStore>path,omitempty"`
}

type volumeSize struct {
	Unit  string `xml:"unit,attr"`
	Value int64  `xml:",chardata"`
}

// modified is when the volume was written to last, zero where libvirt does not know.
func (v *volumeXML) modified() time.Time {
	whole, fraction, _ := strings.Cut(v.Target.Modified, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}
	}
	nanos, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, nanos)
}

// poolXML is what Windlass writes and reads of libvirt's format for pools.
type poolXML struct {
	XMLName xml.Name `xml:"pool"`
	Type    string   `xml:"type,attr"`
	Name    string   `xml:"name"`
	Target  string   `xml:"target>path"`
}

// describeVolume reads the description of a volume.
func describeVolume(api *libvirt.Libvirt, vol libvirt.StorageVol) (volumeXML, error) {
	text, err := api.StorageVolGetXMLDesc(vol, 0)
	if err != nil {
		return volumeXML{}, err
	}
	var out volumeXML
	if err := xml.Unmarshal([]byte(text), &out); err != nil {
		return volumeXML{}, fmt.Errorf("cannot read the description of volume %q: %w", vol.Name, err)
	}
	return out, nil
}

// targetOf returns the directory in which a pool keeps its volumes.
func targetOf(api *libvirt.Libvirt, pool libvirt.StoragePool) (string, error) {
	described, err := describePool(api, pool)
	return described.Target, err
}

// describePool reads the description of a pool.
func describePool(api *libvirt.Libvirt, pool libvirt.StoragePool) (poolXML, error) {
	text, err := api.StoragePoolGetXMLDesc(pool, 0)
	if err != nil {
		return poolXML{}, err
	}
	var out poolXML
	if err := xml.Unmarshal([]byte(text), &out); err != nil {
		return poolXML{}, fmt.Errorf("cannot read the description of pool %q: %w", pool.Name, err)
	}
	return out, nil
}

// sizeOf returns how many bytes a volume has. Guests write raw volumes, and libvirt believes what it reads there, so that it is asked for their
// length and not for what they claim.
func sizeOf(api *libvirt.Libvirt, vol libvirt.StorageVol, format string) (int64, error) {
	if format == formatRaw {
		_, _, length, err := api.StorageVolGetInfoFlags(vol, uint32(libvirt.StorageVolGetPhysical))
		if !is(err, libvirt.ErrNoSupport) && !is(err, libvirt.ErrInvalidArg) {
			return signed(length), err
		}
	}
	_, capacity, _, err := api.StorageVolGetInfo(vol)
	return signed(capacity), err
}

// createVolume creates a raw volume. Success if it is there.
func createVolume(api *libvirt.Libvirt, pool libvirt.StoragePool, name string, bytes int64) error {
	v := volumeXML{Name: name, Capacity: volumeSize{"bytes", bytes}}
	v.Target.Format.Type = formatRaw
	text, err := xml.Marshal(v)
	if err != nil {
		return err
	}
	_, err = api.StorageVolCreateXML(pool, string(text), 0)
	if is(err, libvirt.ErrStorageVolExist) {
		return nil
	}
	return err
}

// removeVolume removes a volume. Success if there is none.
func removeVolume(api *libvirt.Libvirt, pool libvirt.StoragePool, name string) error {
	vol, err := api.StorageVolLookupByName(pool, name)
	if err == nil {
		err = api.StorageVolDelete(vol, libvirt.StorageVolDeleteNormal)
	}
	if is(err, libvirt.ErrNoStorageVol) {
		return nil
	}
	return err
}

// findVolume finds a volume by its path or its "pool/volume". ErrImageNotFound if there is none.
func findVolume(api *libvirt.Libvirt, name string) (libvirt.StorageVol, error) {
	var vol libvirt.StorageVol
	var err error
	if path.IsAbs(name) {
		vol, err = volumeAt(api, path.Clean(name))
	} else {
		vol, err = volumeNamed(api, name)
	}
	if is(err, libvirt.ErrNoStorageVol, libvirt.ErrNoStoragePool) {
		err = fmt.Errorf("%w: %w", machine.ErrImageNotFound, err)
	}
	return vol, err
}

// volumeNamed finds a volume by its "pool/volume". Files come and go behind libvirt's back, so a pool that does not know it is read again.
func volumeNamed(api *libvirt.Libvirt, name string) (libvirt.StorageVol, error) {
	poolName, volumeName, _ := strings.Cut(name, "/")
	pool, err := api.StoragePoolLookupByName(poolName)
	if err != nil {
		return libvirt.StorageVol{}, err
	}
	vol, err := api.StorageVolLookupByName(pool, volumeName)
	if is(err, libvirt.ErrNoStorageVol) && api.StoragePoolRefresh(pool, 0) == nil {
		return api.StorageVolLookupByName(pool, volumeName)
	}
	return vol, err
}

// volumeAt finds a volume by its path. If necessary, it makes the directory known to libvirt as a pool, which lasts as long as the daemon.
func volumeAt(api *libvirt.Libvirt, file string) (libvirt.StorageVol, error) {
	vol, err := api.StorageVolLookupByPath(file)
	if !is(err, libvirt.ErrNoStorageVol) {
		return vol, err
	}
	directory := path.Dir(file)
	pool, err := api.StoragePoolLookupByTargetPath(directory)
	if err == nil {
		err = api.StoragePoolRefresh(pool, 0)
	} else {
		var text []byte
		sum := sha256.Sum256([]byte(directory))
		made := poolXML{Type: "dir", Name: fmt.Sprintf("windlass-%x", sum[:8]), Target: directory}
		if text, err = xml.Marshal(made); err == nil {
			_, err = api.StoragePoolCreateXML(string(text), 0)
		}
	}
	again, lookErr := api.StorageVolLookupByPath(file)
	if lookErr != nil && err != nil {
		return again, fmt.Errorf("%w: %w", machine.ErrImageNotFound, err)
	}
	return again, lookErr
}
