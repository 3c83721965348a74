// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
)

// Ports are the ports of one cluster, all on the loopback address, in the type that Kubernetes uses for ports.
type Ports struct {
	Etcd              int32 `json:"etcd"`
	EtcdPeer          int32 `json:"etcdPeer"`
	APIServer         int32 `json:"apiServer"`
	ControllerManager int32 `json:"controllerManager"`
	Scheduler         int32 `json:"scheduler"`
	Kwok              int32 `json:"kwok"`
	Kubelet           int32 `json:"kubelet"`
}

// Ports are allocated in blocks, from a range below the one that systems use for outgoing connections: otherwise any
// program could occupy the port of a stopped cluster by accident.
const (
	firstPort = 20000
	lastPort  = 29999
	blockSize = 8
	blocks    = (lastPort - firstPort + 1) / blockSize
)

const loopback = "127.0.0.1"

// portsOfBlock puts the API server first: its port is the one that people see.
func portsOfBlock(block int32) Ports {
	base := firstPort + block*blockSize
	return Ports{
		APIServer: base, Etcd: base + 1, EtcdPeer: base + 2,
		ControllerManager: base + 3, Scheduler: base + 4, Kwok: base + 5, Kubelet: base + 6,
	}
}

// podRange gives the pods of each block addresses of their own, so that two real nodes on one machine never share a
// route. It counts down from the end of the range for benchmarks; simulated nodes use its beginning.
func (p Ports) podRange() netip.Prefix {
	const perRange, perByte = 64, 256
	// Counted from 198.18.0.0, of which the range has 512 times 256 addresses.
	first := 512*perByte - (p.APIServer-firstPort)/blockSize*perRange - perRange
	address := fmt.Sprintf("198.%d.%d.%d/26", 18+first/perByte/perByte, first/perByte%perByte, first%perByte)
	return netip.MustParsePrefix(address)
}

// guard is the port of a block on which no component listens. A command that starts a cluster listens there until it ends: commands of other
// state directories, which do not know of each other, then take another block.
func (p Ports) guard() int32 { return p.APIServer + blockSize - 1 }

// all returns the ports that have to be free and are reserved.
func (p Ports) all() []int32 {
	return []int32{p.APIServer, p.Etcd, p.EtcdPeer, p.ControllerManager, p.Scheduler, p.Kwok, p.Kubelet}
}

// choosePorts picks the first block from start on of which no port is reserved and all are free. It listens on the guard of the block, and
// has looked at the other ports since.
func choosePorts(start int32, reserved map[int32]bool, listen func(port int32) (io.Closer, error)) (Ports, io.Closer, error) {
	for i := range int32(blocks) {
		ports := portsOfBlock((start + i) % blocks)
		if slices.ContainsFunc(ports.all(), func(port int32) bool { return reserved[port] }) {
			continue
		}
		guard, err := listen(ports.guard())
		if err != nil {
			continue
		}
		taken := func(port int32) bool {
			listener, err := listen(port)
			return err != nil || listener.Close() != nil
		}
		if !slices.ContainsFunc(ports.all(), taken) {
			return ports, guard, nil
		}
		_ = guard.Close()
	}
	return Ports{}, nil, fmt.Errorf("cannot find %d free ports between %d and %d: delete a cluster that you no longer need ('devcluster list' shows all clusters)",
		blockSize, firstPort, lastPort)
}

// reservePorts gives the cluster a block of ports and guards it until releasePorts.
func (c *cluster) reservePorts(ctx context.Context) error {
	c.releasePorts()
	var err error
	c.guard, err = c.store.reservePorts(ctx, &c.state)
	return err
}

// guardPorts guards the block that the cluster has, until releasePorts. It returns false if somebody else has it.
func (c *cluster) guardPorts(ctx context.Context) bool {
	if c.guard == nil {
		if guard, err := listenOn(ctx, c.state.Ports.guard()); err == nil {
			c.guard = guard
		}
	}
	return c.guard != nil
}

func (c *cluster) releasePorts() {
	if c.guard != nil {
		_ = c.guard.Close()
		c.guard = nil
	}
}

// reservePorts gives the cluster ports that no other cluster of the state directory has, running or not. It records them
// before it releases the directory's lock. Nobody else gets the block until the guard is closed.
func (s *Store) reservePorts(ctx context.Context, state *State) (guard io.Closer, err error) {
	if err := checkLoopback(ctx); err != nil {
		return nil, err
	}
	lock, err := s.lockStore(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.release()

	names, err := s.Names()
	if err != nil {
		return nil, err
	}
	reserved := map[int32]bool{}
	for _, name := range names {
		if name == state.Name {
			continue
		}
		// A state that cannot be read reserves nothing; if that cluster runs, its ports are not free anyway.
		if other, err := s.load(name); err == nil {
			for _, port := range other.Ports.all() {
				reserved[port] = true
			}
		}
	}
	// Clusters of different state directories do not know of each other, so each begins its search elsewhere.
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(s.clusterDir(state.Name)))
	listen := func(port int32) (io.Closer, error) { return listenOn(ctx, port) }
	if state.Ports, guard, err = choosePorts(int32(hash.Sum32()%blocks), reserved, listen); err != nil {
		return nil, err
	}
	if err := s.save(*state); err != nil {
		return nil, errors.Join(err, guard.Close())
	}
	return guard, nil
}

// portIsFree asks the kernel, which knows about all programs, not only clusters. The answer can be outdated a moment
// later; a component that loses that race reports it in its log.
func portIsFree(ctx context.Context, port int32) bool {
	listener, err := listenOn(ctx, port)
	return err == nil && listener.Close() == nil
}

func listenOn(ctx context.Context, port int32) (io.Closer, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address(port))
}

// address is never a name, because resolving a name can contact a server.
func address(port int32) string { return net.JoinHostPort(loopback, strconv.Itoa(int(port))) }

// checkLoopback tells a machine without an IPv4 loopback address from one on which all ports are taken.
func checkLoopback(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return fmt.Errorf("cannot listen on %s, where every component listens: %w: give the loopback interface that address", loopback, err)
	}
	return listener.Close()
}
