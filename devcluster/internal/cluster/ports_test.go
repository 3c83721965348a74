// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"io"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChoosePorts(t *testing.T) {
	t.Parallel()
	everything := func(int32) bool { return true }
	tests := map[string]struct {
		start    int32
		reserved []int32
		free     func(int32) bool
		want     Ports
		err      string
	}{
		"the first block from the start when all are free": {
			start: 3, free: everything, want: portsOfBlock(3),
		},
		"the next block when one port is another cluster's, even of a stopped one": {
			start: 3, reserved: []int32{portsOfBlock(3).Kwok}, free: everything, want: portsOfBlock(4),
		},
		"the next block when another program listens on one port": {
			start: 3, free: func(port int32) bool { return port != portsOfBlock(3).EtcdPeer }, want: portsOfBlock(4),
		},
		"the search goes on at the beginning after the last block": {
			start: blocks - 1, reserved: []int32{portsOfBlock(blocks - 1).Etcd}, free: everything, want: portsOfBlock(0),
		},
		"the next block when another command has chosen this one": {
			start: 3, free: func(port int32) bool { return port != portsOfBlock(3).guard() }, want: portsOfBlock(4),
		},
		"no block left": {
			free: func(int32) bool { return false }, err: "cannot find 8 free ports",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reserved := map[int32]bool{}
			for _, port := range test.reserved {
				reserved[port] = true
			}
			open := map[int32]bool{}
			got, guard, err := choosePorts(test.start, reserved, func(port int32) (io.Closer, error) {
				if !test.free(port) {
					return nil, syscall.EADDRINUSE
				}
				open[port] = true
				return closer(func() { delete(open, port) }), nil
			})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if diff := cmp.Diff(map[int32]bool{test.want.guard(): true}, open); diff != "" {
				t.Errorf("it listens on (-want +got):\n%s", diff)
			}
			if _ = guard.Close(); len(open) > 0 {
				t.Errorf("the guard that was returned is another one than that of %v", open)
			}
		})
	}
}

// closer is called when what it stands for is closed.
type closer func()

// Close implements io.Closer.
func (c closer) Close() error {
	c()
	return nil
}

func TestPortsStayInRange(t *testing.T) {
	t.Parallel()
	seen := map[int32]bool{}
	for block := range int32(blocks) {
		for _, port := range append(portsOfBlock(block).all(), portsOfBlock(block).guard()) {
			if port < firstPort || port > lastPort || seen[port] {
				t.Fatalf("port %d of block %d is out of range or given out twice", port, block)
			}
			seen[port] = true
		}
	}
}

func TestPodRangesStayApart(t *testing.T) {
	t.Parallel()
	benchmarks := netip.MustParsePrefix("198.18.0.0/15")
	seen := map[netip.Prefix]bool{}
	for block := range int32(blocks) {
		pods := portsOfBlock(block).podRange()
		if pods != pods.Masked() || !benchmarks.Contains(pods.Addr()) || seen[pods] {
			t.Fatalf("range %s of block %d is outside of %s, or given out twice", pods, block, benchmarks)
		}
		seen[pods] = true
	}
}

func TestReservePortsAtTheSameMoment(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	states := make([]State, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		states[i] = newState(t, store, name)
		group.Go(func() {
			guard, err := store.reservePorts(t.Context(), &states[i])
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = guard.Close() })
		})
	}
	group.Wait()
	owner := map[int32]string{}
	for _, state := range states {
		for _, port := range state.Ports.all() {
			if other, taken := owner[port]; taken {
				t.Errorf("port %d belongs to %q and to %q", port, other, state.Name)
			}
			owner[port] = state.Name
		}
	}
}

// TestTwoDirectoriesGetTheSamePorts has commands that do not know of each other begin their search at the same block. Before any component
// listened, all of them took it.
func TestTwoDirectoriesGetTheSamePorts(t *testing.T) {
	t.Parallel()
	const commands = 8
	chosen := make(chan Ports, commands)
	var group sync.WaitGroup
	for range commands {
		group.Go(func() {
			ports, guard, err := choosePorts(blocks-commands, nil, func(port int32) (io.Closer, error) { return listenOn(t.Context(), port) })
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = guard.Close() })
			chosen <- ports
		})
	}
	group.Wait()
	close(chosen)
	seen := map[Ports]bool{}
	for ports := range chosen {
		if seen[ports] {
			t.Errorf("two commands have the block of %d", ports.APIServer)
		}
		seen[ports] = true
	}
}
