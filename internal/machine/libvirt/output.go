// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

const (
	// logRole is the role of the volume that what a guest prints is written to. It is no disk of the guest.
	logRole = "console.log"
	// maxOutput is how much of the end of it is read at a time.
	maxOutput = 1 << 20
	// outputInterval is how often it is looked whether there is more.
	outputInterval = 2 * time.Second
)

// createLog makes the volume for what a guest prints, so that the pool knows it, and returns its path. Only a pool of files has one: a
// pool that is a directory. Without one, and on the mock, nothing is written. libvirt's own virtlogd bounds the file, and moves a full one aside.
func (h hostFacts) createLog(api *libvirt.Libvirt, pool libvirt.StoragePool, id machine.Identity) (string, error) {
	if h.domainType == hypervisorTest || pool.Name == "" {
		return "", nil
	}
	described, err := describePool(api, pool)
	if err != nil || described.Type != "dir" {
		return "", err
	}
	name := volumePrefix(id) + logRole
	if err := createVolume(api, pool, name, 0); err != nil {
		return "", fmt.Errorf("cannot create volume %q for what the guest prints: %w", name, err)
	}
	return path.Join(described.Target, name), nil
}

// findLogs lets the pool find the files that virtlogd has moved aside, so that they are removed with the machine. A pool that cannot be read
// again now, because it is copying an image, does not stand in the way: those files stay, and hold 6 MiB at most.
func (d *driver) findLogs(ctx context.Context, f *found) {
	if f.logFile() == "" {
		return
	}
	_ = tell(ctx, d.acting, func(api *libvirt.Libvirt) error {
		pool, err := d.pool(api)
		if err != nil {
			return err
		}
		return api.StoragePoolRefresh(pool, 0)
	})
}

// logFile returns the file that what the guest prints is written to, empty for none.
func (d *described) logFile() string {
	for _, serial := range d.Devices.Serial {
		if serial.Log != nil {
			return serial.Log.File
		}
	}
	return ""
}

// Output implements machine.Driver: the end of the log of the guest's serial console. Domains of earlier versions have none.
func (d *driver) Output(ctx context.Context, id machine.Identity, options machine.OutputOptions) (io.ReadCloser, error) {
	f, err := d.find(ctx, id)
	if err != nil {
		return nil, err
	}
	file := f.logFile()
	if path.Base(file) != volumePrefix(id)+logRole { // also if there is none
		return nil, fmt.Errorf("cannot read the output of machine %q: %w: its domain has no log", id.UID, machine.ErrUnsupported)
	}
	vol, err := call(ctx, d.looking, func(api *libvirt.Libvirt) (libvirt.StorageVol, error) { return api.StorageVolLookupByPath(file) })
	if err != nil {
		return nil, explain(ctx, fmt.Sprintf("find the log of domain %q", f.Name), err)
	}
	ctx, cancel := context.WithCancel(ctx)
	out := &output{ctx: ctx, cancel: cancel, driver: d, dom: f.dom, vol: vol, follow: options.Follow}
	if err := out.begin(options.Tail); err != nil {
		cancel()
		return nil, err
	}
	return out, nil
}

// output reads the log of a guest.
type output struct {
	ctx    context.Context //nolint:containedctx // because an io.Reader has no other way to end with its call
	cancel context.CancelFunc
	driver *driver
	dom    libvirt.Domain
	vol    libvirt.StorageVol
	follow bool
	// offset is how far the log was read, and rest is what the caller has not read yet.
	offset int64
	rest   []byte
}

// begin reads the last lines of the log, all of its end if tail is negative.
func (o *output) begin(tail int) error {
	size, err := o.size()
	if err != nil {
		return err
	}
	o.offset = max(0, size-maxOutput)
	whole := o.offset == 0
	if err := o.more(size); err != nil {
		return err
	}
	if _, after, cut := bytes.Cut(o.rest, []byte("\n")); cut && !whole { // it begins in the middle of a line
		o.rest = after
	}
	o.rest = lastLines(o.rest, tail)
	return nil
}

// Read implements io.Reader.
func (o *output) Read(into []byte) (int, error) {
	for len(o.rest) == 0 {
		if err := o.ctx.Err(); err != nil {
			return 0, err
		}
		if !o.follow {
			return 0, io.EOF
		}
		if err := o.await(); err != nil {
			return 0, err
		}
	}
	n := copy(into, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}

// await reads what has come since. If nothing has, it waits. Of a guest that is off, there is no more to come.
func (o *output) await() error {
	off, err := o.isOff()
	if err != nil {
		return err
	}
	size, err := o.size() // after the state: what a guest has printed before it went off is there
	if err != nil {
		return err
	}
	switch {
	case size < o.offset: // libvirt has begun a new file
		o.offset = 0
		fallthrough
	case size > o.offset:
		return o.more(size)
	case off:
		return io.EOF
	}
	timer := time.NewTimer(outputInterval)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-o.ctx.Done():
	}
	return nil
}

// more reads the log up to a size, as much as is read at a time.
func (o *output) more(size int64) error {
	length := min(size-o.offset, maxOutput)
	if length <= 0 {
		return nil
	}
	part, err := o.driver.endpoint.readPart(o.ctx, o.vol, o.offset, length)
	if err != nil {
		return explain(o.ctx, fmt.Sprintf("read the log of domain %q", o.dom.Name), err)
	}
	o.rest, o.offset = part, o.offset+int64(len(part))
	return nil
}

// size returns how long the log is.
func (o *output) size() (int64, error) {
	size, err := call(o.ctx, o.driver.looking, func(api *libvirt.Libvirt) (int64, error) { return sizeOf(api, o.vol, formatRaw) })
	return size, explain(o.ctx, fmt.Sprintf("look at the log of domain %q", o.dom.Name), err)
}

// isOff reports whether nothing more can come. A domain that is gone is off.
func (o *output) isOff() (bool, error) {
	f, err := o.driver.look(o.ctx, o.dom)
	if errors.Is(err, machine.ErrNotFound) {
		return true, nil
	}
	return !f.active(), err
}

// Close implements io.Closer.
func (o *output) Close() error {
	o.cancel()
	return nil
}

// lastLines returns the last lines of a text, all if the number is negative.
func lastLines(text []byte, lines int) []byte {
	if lines < 0 {
		return text
	}
	at := len(bytes.TrimSuffix(text, []byte("\n")))
	for range lines {
		if at < 0 {
			return text
		}
		at = bytes.LastIndexByte(text[:at], '\n')
	}
	if lines == 0 {
		return nil
	}
	return text[at+1:]
}
