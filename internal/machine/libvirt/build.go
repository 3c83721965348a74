// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// build is the making of one volume.
type build struct {
	pool   libvirt.StoragePool
	volume string
	format string
	bytes  int64
	// image that the volume becomes a copy of; without a name there is none.
	image image
	// content that is written into the volume.
	content []byte
	// remove are volumes that no guest has used and that are in the way.
	remove []leftover
}

// leftover is a volume that no guest has used, with its markers.
type leftover struct {
	volume  string
	markers []string
}

// tag says what the volume is made from. It holds nothing secret: a volume with content is always made again.
func (b *build) tag() string {
	from := fmt.Sprintf("%s %d %s %s", b.format, b.bytes, b.image.vol.Key, b.image.modified)
	sum := sha256.Sum256([]byte(from))
	return hex.EncodeToString(sum[:6])
}

// cost orders builds: what fails fast is tried before disks are made, and disks are made before images are copied.
func (b *build) cost() int {
	switch {
	case b.content != nil:
		return 0
	case b.image.vol.Name == "":
		return 1
	default:
		return 2
	}
}

// removeLeftovers removes the volumes of earlier attempts. libvirt continues a copy after its caller has gone, and does not remove the volume
// before the copy is done.
func (b *build) removeLeftovers(ctx, settling context.Context, s *session) error {
	for _, l := range b.remove {
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			busy, err := ask(settling, s, func(api *libvirt.Libvirt) (bool, error) { return l.remove(api, b.pool) })
			if err != nil {
				return fmt.Errorf("cannot remove unused volume %q: %w", l.volume, err)
			}
			if !busy {
				break
			}
			select {
			case <-ctx.Done():
			case <-time.After(allocationPoll):
			}
		}
	}
	return nil
}

// remove removes the volume and then its markers, or reports that libvirt is still busy with it.
func (l *leftover) remove(api *libvirt.Libvirt, pool libvirt.StoragePool) (busy bool, err error) {
	if err := l.checkUnused(api, pool); err != nil {
		return false, err
	}
	if err := removeVolume(api, pool, l.volume); err != nil {
		// A pool that is not active has the same number.
		if active, lookErr := api.StoragePoolIsActive(pool); is(err, libvirt.ErrOperationInvalid) && lookErr == nil && active == 1 {
			return true, nil
		}
		return false, err
	}
	for _, marker := range l.markers {
		if err := removeVolume(api, pool, marker); err != nil {
			return false, err
		}
	}
	return false, nil
}

// checkUnused compares the volume with its markers once more. A volume that was written to before it was begun has come from elsewhere, as with a
// pool that was restored, and one that was written to after it was finished has been used.
func (l *leftover) checkUnused(api *libvirt.Libvirt, pool libvirt.StoragePool) error {
	modified, err := modifiedAt(api, pool, l.volume)
	if err != nil || modified.IsZero() {
		return err
	}
	for _, marker := range l.markers {
		marked, err := modifiedAt(api, pool, marker)
		if err != nil {
			return err
		}
		begins := strings.HasSuffix(marker, makingMarker)
		if !marked.IsZero() && (begins && modified.Before(marked) || !begins && modified.After(marked)) {
			return fmt.Errorf("%w: volume %q may hold data, although marker %q says that it was never used: remove one of them",
				machine.ErrDiskMismatch, l.volume, marker)
		}
	}
	return nil
}

// modifiedAt is when a volume was written to last, zero if there is no such volume or libvirt does not know.
func modifiedAt(api *libvirt.Libvirt, pool libvirt.StoragePool, name string) (time.Time, error) {
	vol, err := api.StorageVolLookupByName(pool, name)
	if err == nil {
		var v volumeXML
		if v, err = describeVolume(api, vol); err == nil {
			return v.modified(), nil
		}
	}
	if is(err, libvirt.ErrNoStorageVol) {
		err = nil
	}
	return time.Time{}, err
}

// run makes the volume between its markers. What has begun goes on also for a caller that has gone, who would not find it yet, and remove the disks:
// each step is waited for as long as settling lasts, but a copy, which can take hours, only until libvirt lists it.
func (b *build) run(ctx, settling context.Context, s *session, isListed func(context.Context) bool) error {
	making := b.volume + makingMarker
	for _, step := range []func() error{
		ctx.Err,
		func() error {
			return s.tell(settling, func(api *libvirt.Libvirt) error { return createMarker(api, b.pool, making) })
		},
		ctx.Err,
		func() error {
			waiting, stop := until(ctx, settling, isListed)
			defer stop()
			return s.tell(waiting, b.make)
		},
		func() error {
			return s.tell(settling, func(api *libvirt.Libvirt) error { return createMarker(api, b.pool, b.volume+newMarker+b.tag()) })
		},
		func() error {
			return s.tell(settling, func(api *libvirt.Libvirt) error { return removeVolume(api, b.pool, making) })
		},
	} {
		if err := step(); err != nil {
			return fmt.Errorf("cannot make volume %q: %w", b.volume, err)
		}
	}
	return nil
}

// until returns a context that outlives a cancellation of ctx until something is done, or settling ends.
func until(ctx, settling context.Context, isDone func(context.Context) bool) (waiting context.Context, stop context.CancelFunc) {
	waiting, stop = context.WithCancel(settling)
	context.AfterFunc(ctx, func() {
		look := time.NewTicker(stopPoll)
		defer look.Stop()
		for waiting.Err() == nil && !isDone(waiting) {
			select {
			case <-waiting.Done():
			case <-look.C:
			}
		}
		stop()
	})
	return waiting, stop
}

// make creates the volume. If that fails, it removes what it has created; if that fails too, the next attempt recognizes it by the marker.
func (b *build) make(api *libvirt.Libvirt) error {
	vol, err := b.create(api)
	if is(err, libvirt.ErrStorageVolExist, libvirt.ErrOperationInvalid) {
		// There is a volume that was not there before, and the marker is not about it.
		return errors.Join(err, removeVolume(api, b.pool, b.volume+makingMarker))
	}
	if err != nil {
		return err
	}
	if err := b.fill(api, vol); err != nil {
		undo := leftover{volume: b.volume, markers: []string{b.volume + makingMarker}}
		_, undoErr := undo.remove(api, b.pool)
		return errors.Join(err, undoErr)
	}
	return nil
}

// create creates the volume, as a copy of the image if there is one.
func (b *build) create(api *libvirt.Libvirt) (libvirt.StorageVol, error) {
	v := volumeXML{Name: b.volume, Capacity: volumeSize{"bytes", b.bytes}, Allocation: &volumeSize{"bytes", 0}}
	v.Target.Format.Type = b.format
	text, err := xml.Marshal(v)
	if err != nil {
		return libvirt.StorageVol{}, err
	}
	if b.image.vol.Name != "" {
		return api.StorageVolCreateXMLFrom(b.pool, string(text), b.image.vol, 0)
	}
	return api.StorageVolCreateXML(b.pool, string(text), 0)
}

// fill gives the volume its content, or the rest of its size.
func (b *build) fill(api *libvirt.Libvirt, vol libvirt.StorageVol) error {
	if b.content != nil {
		return api.StorageVolUpload(vol, bytes.NewReader(b.content), 0, uint64(len(b.content)), 0)
	}
	_, has, _, err := api.StorageVolGetInfo(vol)
	if err != nil || signed(has) >= b.bytes {
		return err
	}
	return api.StorageVolResize(vol, unsigned(b.bytes), 0)
}
