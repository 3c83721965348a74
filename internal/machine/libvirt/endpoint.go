// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The hypervisors that libvirt is asked for.
const (
	hypervisorQEMU = "qemu"
	hypervisorTest = "test"
)

// What can run the guests of QEMU, as domains name it.
const (
	acceleratedKVM = "kvm"
	emulatedQEMU   = "qemu"
)

// Defaults and bounds of an endpoint's parameters.
const (
	// defaultPool is where disks are made. No object can name what is in it.
	defaultPool = "default"
	// defaultImages is the pool whose volumes objects can name as images.
	defaultImages = "images"
	// defaultPath is where distributions keep what guests boot from. The rest of /var/lib/libvirt holds the disks and the memory of guests.
	defaultPath = "/var/lib/libvirt/boot"
	maxHeadroom = 16
)

// endpoint is a parsed libvirt URI. What an object can name on the host is in one of three places that are apart: disks that Windlass makes, which no
// object can name; images, which guests only read; and shared disks, which guests write to.
type endpoint struct {
	// uri is what the daemon is asked to open.
	uri string
	// hypervisor runs the guests: qemu or test.
	hypervisor string
	// way is how the host is reached.
	way way
	// sockets are where the daemon may listen; the first one that answers is used. Those of a host that is reached through SSH are
	// there, and one that is reached through TLS or TCP has none.
	sockets []string
	// pool is the storage pool in which disks are made.
	pool string
	// images are the storage pools of images, and paths the directories of images and of files to boot.
	images, paths []string
	// disks are the storage pools and directories of shared disks.
	disks []string
	// headroom is how many times its memory a guest can be given without a restart.
	headroom int64
	// accelerator is kvm or qemu where the endpoint says so. Empty: Windlass finds out.
	accelerator string
}

// parseEndpoint reads the endpoint of a host: qemu:///system, qemu+unix:///system?socket=/path, qemu+tls://rack-1/system,
// qemu+ssh://ops@rack-1/system, test:///default.
func parseEndpoint(raw string) (endpoint, error) {
	parsed, err := url.Parse(raw)
	if err != nil {
		return endpoint{}, fmt.Errorf("%w: its endpoint is not a URL", machine.ErrInvalid)
	}
	hypervisor, transport, _ := strings.Cut(parsed.Scheme, "+")
	if hypervisor != hypervisorQEMU && hypervisor != hypervisorTest {
		return endpoint{}, fmt.Errorf("%w: its endpoint begins with %.32q and not with qemu or test", machine.ErrInvalid, parsed.Scheme)
	}
	way, err := parseWay(transport, parsed)
	if err != nil {
		return endpoint{}, fmt.Errorf("%w: its endpoint %w", machine.ErrInvalid, err)
	}
	out := endpoint{
		uri: hypervisor + "://" + parsed.Path, hypervisor: hypervisor, way: way, pool: defaultPool, headroom: 1,
		images: []string{defaultImages}, paths: []string{defaultPath},
	}
	if way.hasSockets() {
		out.sockets = socketsOf(hypervisor)
	}
	query := parsed.Query()
	for name, values := range query {
		if err := setParameter(&out, name, values[len(values)-1]); err != nil {
			return endpoint{}, fmt.Errorf("%w: its endpoint has %w", machine.ErrInvalid, err)
		}
	}
	if query.Has("socket") && !way.hasSockets() {
		return endpoint{}, fmt.Errorf("%w: its endpoint has the parameter socket, which is for a host that is reached through one", machine.ErrInvalid)
	}
	if parsed.Path == "/session" && !query.Has("socket") {
		return endpoint{}, fmt.Errorf("%w: a session does not have the same socket everywhere: "+
			"name it, as in qemu:///session?socket=/run/user/1000/libvirt/libvirt-sock", machine.ErrInvalid)
	}
	if !query.Has("images") && out.pool == defaultImages {
		out.images = nil
	}
	if err := out.checkApart(); err != nil {
		return endpoint{}, fmt.Errorf("%w: its endpoint has %w", machine.ErrInvalid, err)
	}
	return out, nil
}

// setParameter reads one parameter.
func setParameter(e *endpoint, name, value string) error {
	switch name {
	case "socket":
		if !filepath.IsAbs(value) {
			return fmt.Errorf("the socket %.64q, which is not an absolute path", value)
		}
		e.sockets = []string{value}
	case "pool":
		if !isPool(value) {
			return fmt.Errorf("the pool %.64q, which is not a name", value)
		}
		e.pool = value
	case "images":
		e.images = filepath.SplitList(value)
		if !all(e.images, isPool) {
			return fmt.Errorf("the images %.64q, which are not names of pools with : in between", value)
		}
	case "paths":
		e.paths = filepath.SplitList(value)
		if !all(e.paths, filepath.IsAbs) {
			return fmt.Errorf("the paths %.64q, which are not absolute paths with : in between", value)
		}
	case "disks":
		e.disks = filepath.SplitList(value)
		if !all(e.disks, func(s string) bool { return isPool(s) || filepath.IsAbs(s) }) {
			return fmt.Errorf("the disks %.64q, which are not names of pools or absolute paths with : in between", value)
		}
	case "headroom":
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 1 || n > maxHeadroom {
			return fmt.Errorf("the headroom %.16q, which is not a number from 1 to %d", value, maxHeadroom)
		}
		e.headroom = n
	case "accelerator":
		if value != acceleratedKVM && value != emulatedQEMU {
			return fmt.Errorf("the accelerator %.16q, which is neither kvm nor qemu", value)
		}
		e.accelerator = value
	default:
		return fmt.Errorf("the unknown parameter %.64q: known are socket, pool, images, paths, disks, headroom and accelerator", name)
	}
	return nil
}

func isPool(s string) bool { return s != "" && !strings.Contains(s, "/") }

func all(list []string, check func(string) bool) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !check(s) })
}

// checkApart refuses an endpoint whose three places overlap: what a guest has written must never be read as an image.
func (e endpoint) checkApart() error {
	for _, place := range slices.Concat(e.images, e.disks) {
		if place == e.pool {
			return fmt.Errorf("the pool %q, in which disks are made, among images or disks", place)
		}
	}
	for _, place := range e.disks {
		if slices.Contains(e.images, place) {
			return fmt.Errorf("the pool %q among both images and disks", place)
		}
		for _, directory := range e.paths {
			if filepath.IsAbs(place) && (within(directory, place) || within(place, directory)) {
				return fmt.Errorf("the disks %q and the paths %q, one inside the other", place, directory)
			}
		}
	}
	return nil
}

// allowsImage refuses the name of an image or of a file to boot that is not in a place of images. Links are their owner's business.
func (e endpoint) allowsImage(name string) error {
	if !filepath.IsAbs(name) {
		return allowsVolume(name, e.images, "images")
	}
	return allowsPath(name, e.paths, "paths")
}

// allowsDisk refuses the name of a disk that is not in a place of shared disks.
func (e endpoint) allowsDisk(name string) error {
	if !filepath.IsAbs(name) {
		return allowsVolume(name, e.disks, "disks")
	}
	return allowsPath(name, e.disks, "disks")
}

// allowsVolume refuses a "pool/volume" in a pool that the parameter does not list.
func allowsVolume(name string, pools []string, parameter string) error {
	pool, volume, _ := strings.Cut(name, "/")
	switch {
	case pool == "" || volume == "":
		return fmt.Errorf("%w: %.128q is neither an absolute path nor pool/volume", machine.ErrImageNotFound, name)
	case !slices.Contains(pools, pool):
		return fmt.Errorf("%w: the host does not allow %.128q: the parameter %s of its endpoint lists no pool %.64q", machine.ErrInvalid, name,
			parameter, pool)
	}
	return nil
}

// allowsPath refuses a path outside of the directories that the parameter lists.
func allowsPath(name string, directories []string, parameter string) error {
	for _, directory := range directories {
		if filepath.IsAbs(directory) && within(directory, name) {
			return nil
		}
	}
	return fmt.Errorf("%w: the host does not allow %.128q: the parameter %s of its endpoint lists no directory that it is in", machine.ErrInvalid,
		name, parameter)
}

// within reports whether the path is in the directory, or is the directory.
func within(directory, path string) bool {
	inside, err := filepath.Rel(directory, filepath.Clean(path))
	return err == nil && filepath.IsLocal(inside)
}
