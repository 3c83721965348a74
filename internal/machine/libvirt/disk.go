// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The formats of disk images that guests are given.
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
	} `xml:"target"`
}

type volumeSize struct {
	Unit  string `xml:"unit,attr"`
	Value int64  `xml:",chardata"`
}

// poolXML is what Windlass writes of libvirt's format for pools.
type poolXML struct {
	XMLName xml.Name `xml:"pool"`
	Type    string   `xml:"type,attr"`
	Name    string   `xml:"name"`
	Target  string   `xml:"target>path"`
}

// existing is a volume of somebody else's.
type existing struct {
	vol      libvirt.StorageVol
	format   string
	capacity int64
}

// source finds an image or a disk by its path or its "pool/volume". ErrImageNotFound if there is none.
func source(api *libvirt.Libvirt, name string) (existing, error) {
	vol, err := volumeCalled(api, name)
	if is(err, libvirt.ErrNoStorageVol, libvirt.ErrNoStoragePool) {
		return existing{}, fmt.Errorf("%w: %w", machine.ErrImageNotFound, err)
	}
	if err != nil {
		return existing{}, err
	}
	text, err := api.StorageVolGetXMLDesc(vol, 0)
	if err != nil {
		return existing{}, err
	}
	var v volumeXML
	if err := xml.Unmarshal([]byte(text), &v); err != nil {
		return existing{}, fmt.Errorf("cannot read the description of volume %q: %w", vol.Name, err)
	}
	out := existing{vol: vol, format: formatRaw, capacity: v.Capacity.Value}
	if v.Target.Format.Type == formatQCOW2 {
		out.format = formatQCOW2
	}
	return out, nil
}

// volumeCalled finds a volume. Files come and go behind libvirt's back, so what it does not know it looks for.
func volumeCalled(api *libvirt.Libvirt, name string) (libvirt.StorageVol, error) {
	if path.IsAbs(name) {
		return volumeAt(api, path.Clean(name))
	}
	poolName, volumeName, ok := strings.Cut(name, "/")
	if !ok || poolName == "" || volumeName == "" {
		return libvirt.StorageVol{}, fmt.Errorf("%w: %.128q is neither a path nor pool/volume", machine.ErrImageNotFound, name)
	}
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

// volumeAt finds a volume by its path, if need be by making its directory known as a pool, which lasts as long as the daemon.
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

// wanted is a volume that is to be made.
type wanted struct {
	name, format string
	capacity     int64
	// copied is what it is a copy of, nil for none.
	copied *existing
	// content is what is written into it.
	content []byte
}

// build makes the volume. What has its name already is left from a making that was cut off: nobody else has such names.
func (w *wanted) build(ctx context.Context, s *session, pool libvirt.StoragePool) error {
	_, err := ask(ctx, s, func(api *libvirt.Libvirt) (struct{}, error) { return struct{}{}, w.make(api, pool) })
	return explain(ctx, fmt.Sprintf("make volume %q", w.name), err)
}

func (w *wanted) make(api *libvirt.Libvirt, pool libvirt.StoragePool) error {
	if err := unmake(api, pool, w.name); err != nil {
		return err
	}
	made := volumeXML{Name: w.name, Capacity: volumeSize{"bytes", w.capacity}, Allocation: &volumeSize{"bytes", 0}}
	made.Target.Format.Type = w.format
	text, err := xml.Marshal(made)
	if err != nil {
		return err
	}
	if w.copied == nil {
		vol, err := api.StorageVolCreateXML(pool, string(text), 0)
		if err != nil || w.content == nil {
			return err
		}
		return api.StorageVolUpload(vol, bytes.NewReader(w.content), 0, uint64(len(w.content)), 0)
	}
	vol, err := api.StorageVolCreateXMLFrom(pool, string(text), w.copied.vol, 0)
	if err != nil {
		return err
	}
	_, has, _, err := api.StorageVolGetInfo(vol)
	if err != nil || has >= uint64(w.capacity) { //nolint:gosec // because the size was checked
		return err
	}
	return api.StorageVolResize(vol, uint64(w.capacity), 0) //nolint:gosec // because the size was checked
}

// unmake removes a volume. Success if there is none.
func unmake(api *libvirt.Libvirt, pool libvirt.StoragePool, name string) error {
	vol, err := api.StorageVolLookupByName(pool, name)
	if err == nil {
		err = api.StorageVolDelete(vol, libvirt.StorageVolDeleteNormal)
	}
	if is(err, libvirt.ErrNoStorageVol) {
		return nil
	}
	return err
}

// pool returns the pool in which volumes are made.
func (d *driver) pool(api *libvirt.Libvirt) (libvirt.StoragePool, error) {
	pool, err := api.StoragePoolLookupByName(d.endpoint.pool)
	if is(err, libvirt.ErrNoStoragePool) {
		return pool, fmt.Errorf("there is no storage pool %q to make disks in: %w", d.endpoint.pool, err)
	}
	return pool, err
}

// discard removes volumes that were made for a machine.
func (d *driver) discard(ctx context.Context, volumes []volume) error {
	for _, v := range volumes {
		err := tell(ctx, d.acting, func(api *libvirt.Libvirt) error {
			pool, err := api.StoragePoolLookupByName(v.Pool)
			if is(err, libvirt.ErrNoStoragePool) {
				return nil // Whoever has removed the pool has taken its volumes over.
			}
			if err != nil {
				return err
			}
			return unmake(api, pool, v.Name)
		})
		if err != nil {
			return explain(ctx, fmt.Sprintf("remove volume %q", v.Name), err)
		}
	}
	return nil
}

// sweep removes the volumes of a machine that has no domain: its making was cut off.
func (d *driver) sweep(ctx context.Context, id machine.Identity) error {
	left, err := call(ctx, d.acting, func(api *libvirt.Libvirt) ([]volume, error) {
		pool, err := d.pool(api)
		if err != nil {
			return nil, err
		}
		volumes, _, err := api.StoragePoolListAllVolumes(pool, 1, 0)
		var left []volume
		for _, vol := range volumes {
			if strings.HasPrefix(vol.Name, volumePrefix(id)) {
				left = append(left, volume{Pool: pool.Name, Name: vol.Name})
			}
		}
		return left, err
	})
	if is(err, libvirt.ErrNoStoragePool) && !errors.Is(ctx.Err(), context.Canceled) {
		return nil // Without a pool nothing was ever made.
	}
	if err != nil {
		return explain(ctx, fmt.Sprintf("look for volumes of machine %q", id.UID), err)
	}
	return d.discard(ctx, left)
}
