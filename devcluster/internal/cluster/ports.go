// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
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

// all returns the ports that have to be free and are reserved.
func (p Ports) all() []int32 {
	return []int32{p.APIServer, p.Etcd, p.EtcdPeer, p.ControllerManager, p.Scheduler, p.Kwok, p.Kubelet}
}

// choosePorts picks the first block from start on of which no port is reserved and all are free.
func choosePorts(start int32, reserved map[int32]bool, free func(port int32) bool) (Ports, error) {
	for i := range int32(blocks) {
		ports := portsOfBlock((start + i) % blocks)
		usable := true
		for _, port := range ports.all() {
			usable = usable && !reserved[port] && free(port)
		}
		if usable {
			return ports, nil
		}
	}
	return Ports{}, fmt.Errorf("cannot find %d free ports between %d and %d: delete a cluster that you no longer need ('devcluster list' shows all clusters)",
		blockSize, firstPort, lastPort)
}

// reservePorts gives the cluster ports that no other cluster of the state directory has, running or not. It records them
// before it releases the directory's lock.
func (s *Store) reservePorts(ctx context.Context, state *State) error {
	if err := checkLoopback(ctx); err != nil {
		return err
	}
	lock, err := s.lockStore(ctx)
	if err != nil {
		return err
	}
	defer lock.release()

	names, err := s.Names()
	if err != nil {
		return err
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
	state.Ports, err = choosePorts(int32(hash.Sum32()%blocks), reserved, func(port int32) bool { return portIsFree(ctx, port) })
	if err != nil {
		return err
	}
	return s.save(*state)
}

// portIsFree asks the kernel, which knows about all programs, not only clusters. The answer can be outdated a moment
// later; a component that loses that race reports it in its log.
func portIsFree(ctx context.Context, port int32) bool {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address(port))
	if err != nil {
		return false
	}
	_ = listener.Close()
	return true
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
