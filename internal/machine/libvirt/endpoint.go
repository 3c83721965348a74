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

// What may run the guests of QEMU, as domains name it.
const (
	acceleratedKVM = "kvm"
	emulatedQEMU   = "qemu"
)

// Defaults and bounds of an endpoint's parameters.
const (
	defaultPool = "default"
	// defaultPath is where distributions keep images. Everything else on a host is nobody's business who may create a VirtualMachine.
	defaultPath = "/var/lib/libvirt"
	maxHeadroom = 16
)

// endpoint is a libvirt URI, taken apart.
type endpoint struct {
	// uri is what the daemon is asked to open.
	uri string
	// hypervisor runs the guests: qemu or test.
	hypervisor string
	// sockets are where the daemon may listen; the first that is there is used.
	sockets []string
	// pool is the storage pool in which volumes are made.
	pool string
	// headroom is how many times its memory a guest may be given without a restart.
	headroom int64
	// paths are the directories in which whole paths may lie that a spec names.
	paths []string
	// accelerator is kvm or qemu where somebody knows better, empty where it is to be found out.
	accelerator string
}

// parseEndpoint reads the endpoint of a host: qemu:///system, qemu+unix:///system?socket=/path, test:///default. The parameters are
// socket, pool, paths, headroom and accelerator.
func parseEndpoint(raw string) (endpoint, error) {
	parsed, err := url.Parse(raw)
	if err != nil {
		return endpoint{}, fmt.Errorf("%w: its endpoint is no URL", machine.ErrInvalid)
	}
	hypervisor, transport, _ := strings.Cut(parsed.Scheme, "+")
	if hypervisor != hypervisorQEMU && hypervisor != hypervisorTest {
		return endpoint{}, fmt.Errorf("%w: its endpoint begins with %.32q and not with qemu or test", machine.ErrInvalid, parsed.Scheme)
	}
	if transport != "" && transport != "unix" || parsed.Host != "" {
		return endpoint{}, fmt.Errorf("%w: libvirt is reached through its socket only, so its endpoint cannot be on the network: "+
			"forward the socket and name it, as in qemu+unix:///system?socket=/run/rack-1.sock", machine.ErrUnsupported)
	}
	out := endpoint{
		uri: hypervisor + "://" + parsed.Path, hypervisor: hypervisor, sockets: socketsOf(hypervisor), pool: defaultPool, headroom: 1,
		paths: []string{defaultPath},
	}
	for name, values := range parsed.Query() {
		if err := setParameter(&out, name, values[len(values)-1]); err != nil {
			return endpoint{}, fmt.Errorf("%w: its endpoint has %w", machine.ErrInvalid, err)
		}
	}
	if parsed.Path == "/session" && !parsed.Query().Has("socket") {
		return endpoint{}, fmt.Errorf("%w: a session has no socket that is the same everywhere: "+
			"name it, as in qemu:///session?socket=/run/user/1000/libvirt/libvirt-sock", machine.ErrInvalid)
	}
	return out, nil
}

// setParameter reads one parameter.
func setParameter(e *endpoint, name, value string) error {
	switch name {
	case "socket":
		if !filepath.IsAbs(value) {
			return fmt.Errorf("the socket %.64q, which is no whole path", value)
		}
		e.sockets = []string{value}
	case "pool":
		if value == "" || strings.Contains(value, "/") {
			return fmt.Errorf("the pool %.64q, which is no name", value)
		}
		e.pool = value
	case "paths":
		e.paths = filepath.SplitList(value)
		if len(e.paths) == 0 || slices.ContainsFunc(e.paths, func(p string) bool { return !filepath.IsAbs(p) }) {
			return fmt.Errorf("the paths %.64q, which are not whole paths with : in between", value)
		}
	case "headroom":
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 1 || n > maxHeadroom {
			return fmt.Errorf("the headroom %.16q, which is no number from 1 to %d", value, maxHeadroom)
		}
		e.headroom = n
	case "accelerator":
		if value != acceleratedKVM && value != emulatedQEMU {
			return fmt.Errorf("the accelerator %.16q, which is neither kvm nor qemu", value)
		}
		e.accelerator = value
	default:
		return fmt.Errorf("the parameter %.64q, and knows socket, pool, paths, headroom and accelerator only", name)
	}
	return nil
}

// allows refuses a path that lies outside of the directories of the endpoint. Links in them are their owner's business.
func (e endpoint) allows(file string) error {
	if !filepath.IsAbs(file) {
		return nil
	}
	clean := filepath.Clean(file)
	for _, directory := range e.paths {
		if inside, err := filepath.Rel(directory, clean); err == nil && filepath.IsLocal(inside) {
			return nil
		}
	}
	return fmt.Errorf("%w: %.128q lies outside of what its host allows, which is %s", machine.ErrInvalid, file,
		strings.Join(e.paths, " and "))
}

// socketsOf returns where a daemon listens: the one for everything, or the one for the hypervisor.
func socketsOf(hypervisor string) []string {
	sockets := []string{"/run/libvirt/libvirt-sock", "/var/run/libvirt/libvirt-sock"}
	if hypervisor == hypervisorQEMU {
		sockets = append(sockets, "/run/libvirt/virtqemud-sock", "/var/run/libvirt/virtqemud-sock")
	}
	return sockets
}
