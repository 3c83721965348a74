// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"errors"
	"time"

	"k8s.io/utils/clock"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Call is the name of a method of machine.Driver in lower case.
type Call string

// The calls that can be slow or fail. AnyCall means all of them.
const (
	AnyCall     Call = ""
	CallInfo    Call = "info"
	CallGet     Call = "get"
	CallList    Call = "list"
	CallStats   Call = "stats"
	CallWatch   Call = "watch"
	CallOutput  Call = "output"
	CallConsole Call = "console"
	CallPrepare Call = "prepare"
	CallCreate  Call = "create"
	CallReplace Call = "replace"
	CallStart   Call = "start"
	CallStop    Call = "stop"
	CallSuspend Call = "suspend"
	CallResize  Call = "resize"
	CallDelete  Call = "delete"
)

func allCalls() []Call {
	return []Call{
		CallInfo, CallGet, CallList, CallStats, CallWatch, CallOutput, CallConsole, CallPrepare, CallCreate, CallReplace, CallStart, CallStop, CallSuspend,
		CallResize, CallDelete,
	}
}

// Script says how a simulated host behaves. The zero value is a host without faults that answers at once.
type Script struct {
	// Capacity of the host. The machines together never exceed it. Default: 64 CPUs, 256Gi of memory, 4Ti of disk.
	Capacity machine.Resources
	// Latency of all calls (AnyCall), and what single calls take in addition. A Watch is delayed once, before its first event.
	Latency map[Call]time.Duration
	// Load is the share of its CPU limit that a machine uses on average, more than 0 and at most 1. Default: 0.1.
	Load float64
	// Fixed says which resources of a running machine cannot change.
	Fixed Fixed
	// Disks: root disks outlive their machines, until Delete. Otherwise they end with the process, as its machines do.
	Disks bool
	// Images that the host has from the start. Others must be fetched with Prepare.
	Images []string
	// Faults in the order in which they are considered.
	Faults []Fault
	// Seed of the random numbers for Fault.Share, so that a test is reproducible. Default: 0.
	Seed uint64
	// Clock of the host. Default: the system's.
	Clock clock.WithDelayedExecution
}

// Fixed are the resources that can change only while a machine is off.
type Fixed struct{ CPU, Memory, RootDisk bool }

// keeps reports whether a change takes a machine that is off.
func (f Fixed) keeps(now, to machine.Resources) bool {
	return f.CPU && now.MilliCPU != to.MilliCPU || f.Memory && now.MemoryBytes != to.MemoryBytes ||
		f.RootDisk && now.RootDiskBytes != to.RootDiskBytes
}

// Fault makes calls fail.
type Fault struct {
	// Call that fails. Default: AnyCall.
	Call Call
	// UID of the VirtualMachine whose calls fail. Default: all.
	UID string
	// Err is what the call returns. Default: an error without a kind.
	Err error
	// Late: the call does its work and then fails, as if its answer was lost.
	Late bool
	// Hang: the call returns only when its context ends. A machine whose CallGet hangs is silent in lists.
	Hang bool
	// Skip is how many calls succeed before the first that fails.
	Skip int
	// Times is how many calls fail. Default: all.
	Times int
	// Share of the calls that fail, from 0 to 1. Default: all.
	Share float64
}

// errFault is the default of Fault.Err.
var errFault = errors.New("simulated fault")

// Defaults of a script.
const (
	defaultMilliCPU = 64_000
	defaultMemory   = 256 << 30
	defaultDisk     = 4 << 40
	defaultLoad     = 0.1
)

func (s *Script) setDefaults() {
	if s.Capacity.MilliCPU == 0 {
		s.Capacity.MilliCPU = defaultMilliCPU
	}
	if s.Capacity.MemoryBytes == 0 {
		s.Capacity.MemoryBytes = defaultMemory
	}
	if s.Capacity.RootDiskBytes == 0 {
		s.Capacity.RootDiskBytes = defaultDisk
	}
	if s.Load == 0 {
		s.Load = defaultLoad
	}
	if s.Clock == nil {
		s.Clock = clock.RealClock{}
	}
}
