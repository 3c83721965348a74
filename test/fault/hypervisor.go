// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// mock is libvirt's own hypervisor for tests: guests are entries in the daemon's memory, all else is real. It is gone with the last connection to it.
const mock = "test:///default"

// What there is on the mock before a run. The domain is its own.
const (
	mockPool   = "default-pool"
	mockDomain = "test"
	imagePool  = "images"
	baseImage  = "base.img"
)

// hypervisor is the libvirt daemon of a lane, with a connection that keeps what is on it.
type hypervisor struct {
	daemon *libvirttest.Daemon
	api    *libvirt.Libvirt
	conn   net.Conn
}

// onLibvirt has the machines of a scenario run on a hypervisor of libvirt, which all runs on a lane share. It is a setUp.
func onLibvirt(s *stage) (func() error, error) {
	if err := s.startHypervisor(); err != nil {
		return nil, err
	}
	socket := s.hypervisor.daemon.Path("proxy")
	proxy, err := newHypervisorProxy(socket, s.hypervisor.daemon.Socket(), s.effects)
	if err != nil {
		return nil, err
	}
	hosts := filepath.Join(s.Dir, "libvirt-hosts.yaml")
	endpoint := libvirttest.HostAt(socket, mock, "pool="+mockPool).Endpoint
	list := fmt.Sprintf("hosts:\n- {name: host, driver: libvirt, endpoint: %q}\n", endpoint)
	if err := os.WriteFile(hosts, []byte(list), 0o600); err != nil {
		return nil, errors.Join(err, proxy.close())
	}
	s.args = append(s.args, "--vm-driver=libvirt", "--vm-hosts="+hosts)
	s.hosts = append(s.hosts, s.hypervisor.see)
	return func() error { return errors.Join(proxy.close(), s.hypervisor.empty()) }, nil
}

// startHypervisor starts the daemon of the lane if it does not run yet.
func (l *lane) startHypervisor() error {
	if l.hypervisor != nil {
		return nil
	}
	daemon, err := libvirttest.Open(context.Background())
	if err != nil {
		return err
	}
	api, conn, err := daemon.Connect(context.Background(), mock)
	if err != nil {
		return errors.Join(err, daemon.Close())
	}
	l.hypervisor = &hypervisor{daemon: daemon, api: api, conn: conn}
	return l.hypervisor.stock()
}

// close ends the daemon.
func (h *hypervisor) close() error {
	if h == nil {
		return nil
	}
	return errors.Join(h.conn.Close(), h.daemon.Close())
}

// stock makes a pool with an image. The mock looks for the original of a copy in the pool of the copy, so that it has to be there, too.
func (h *hypervisor) stock() error {
	images, err := h.api.StoragePoolCreateXML(
		fmt.Sprintf("<pool type='dir'><name>%s</name><target><path>/images</path></target></pool>", imagePool), 0)
	if err != nil {
		return fmt.Errorf("cannot make a pool: %w", err)
	}
	made, err := h.api.StoragePoolLookupByName(mockPool)
	if err != nil {
		return fmt.Errorf("cannot find the pool: %w", err)
	}
	for _, pool := range []libvirt.StoragePool{images, made} {
		image := fmt.Sprintf("<volume><name>%s</name><capacity>%d</capacity></volume>", baseImage, 1<<30)
		if _, err := h.api.StorageVolCreateXML(pool, image, 0); err != nil {
			return fmt.Errorf("cannot make an image: %w", err)
		}
	}
	return nil
}

// see adds to a state what is on the hypervisor.
func (h *hypervisor) see(_ context.Context, to state) error {
	domains, volumes, err := h.list()
	if err != nil {
		return err
	}
	for _, domain := range domains {
		state, _, memory, cpus, _, err := h.api.DomainGetInfo(domain)
		if isGone(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot look at a domain: %w", err)
		}
		to[onHost(machine.DriverLibvirt, "domains", nameOfRun(domain.Name))] = map[string]any{
			"state": int(state), "memory": memory, "cpus": int(cpus),
		}
	}
	for _, volume := range volumes {
		_, capacity, _, err := h.api.StorageVolGetInfo(volume)
		if isGone(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot look at a volume: %w", err)
		}
		to[onHost(machine.DriverLibvirt, "volumes", nameOfRun(volume.Name))] = capacity
	}
	return nil
}

// list returns what a run has made.
func (h *hypervisor) list() (domains []libvirt.Domain, volumes []libvirt.StorageVol, err error) {
	all, _, err := h.api.ConnectListAllDomains(1, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot list domains: %w", err)
	}
	for _, domain := range all {
		if domain.Name != mockDomain {
			domains = append(domains, domain)
		}
	}
	pool, err := h.api.StoragePoolLookupByName(mockPool)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot find the pool: %w", err)
	}
	found, _, err := h.api.StoragePoolListAllVolumes(pool, 1, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot list volumes: %w", err)
	}
	for _, volume := range found {
		if volume.Name != baseImage {
			volumes = append(volumes, volume)
		}
	}
	return domains, volumes, nil
}

// empty removes what a run has left.
func (h *hypervisor) empty() error {
	domains, volumes, err := h.list()
	for _, domain := range domains {
		_ = h.api.DomainDestroy(domain) // it may be off
		if undefined := h.api.DomainUndefineFlags(domain, 0); !isGone(undefined) {
			err = errors.Join(err, undefined)
		}
	}
	for _, volume := range volumes {
		if deleted := h.api.StorageVolDelete(volume, 0); !isGone(deleted) {
			err = errors.Join(err, deleted)
		}
	}
	return err
}

// isGone reports whether a call has failed because what it is about is not there. A call that takes effect late can have removed it since it was listed.
func isGone(err error) bool {
	var failed libvirt.Error
	return errors.As(err, &failed) && slices.Contains([]uint32{uint32(libvirt.ErrNoDomain), uint32(libvirt.ErrNoStorageVol)}, failed.Code)
}
