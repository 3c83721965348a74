// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"errors"
	"time"

	"k8s.io/utils/clock"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Call is a method of machine.Driver in lower case.
type Call string

// The calls that can be slow or fail. AnyCall stands for all of them.
const (
	AnyCall     Call = ""
	CallInfo    Call = "info"
	CallGet     Call = "get"
	CallList    Call = "list"
	CallStats   Call = "stats"
	CallWatch   Call = "watch"
	CallPrepare Call = "prepare"
	CallCreate  Call = "create"
	CallStart   Call = "start"
	CallStop    Call = "stop"
	CallResize  Call = "resize"
	CallDelete  Call = "delete"
)

func allCalls() []Call {
	return []Call{
		CallInfo, CallGet, CallList, CallStats, CallWatch, CallPrepare, CallCreate, CallStart, CallStop, CallResize, CallDelete,
	}
}

// Script is how a simulated host behaves. The zero value is a well-behaved host that answers at once.
type Script struct {
	// Capacity of the host, which the sizes of all machines together never exceed. Default: 64 CPUs, 256Gi of memory, 4Ti of disk.
	Capacity machine.Resources
	// Latency of every call, and of single ones, which it is added to. A watch waits once, before its first event.
	Latency map[Call]time.Duration
	// Load is the share of its CPU limit that a machine uses on average, from 0 to 1. Default: 0.1.
	Load float64
	// Fixed says which resources of a machine that runs cannot be changed.
	Fixed Fixed
	// Images that are there from the start. All others have to be fetched before a machine is made from them.
	Images []string
	// Faults that happen, in the order in which they are looked for.
	Faults []Fault
	// Seed of the dice that Fault.Share throws, so that a test sees the same faults again. Default: 0.
	Seed uint64
	// Clock of the host: what time it is, and when the time has come. Default: the system's.
	Clock clock.WithDelayedExecution
}

// Fixed are the resources that only a machine that is off takes.
type Fixed struct{ CPU, Memory bool }

// Fault is something that goes wrong with a call.
type Fault struct {
	// Call that it happens to. Default: AnyCall.
	Call Call
	// UID of the only VirtualMachine that it happens to. Default: whichever.
	UID string
	// Err is what the call returns. Default: an error of no kind.
	Err error
	// Late: the call does its work and then fails, as if its answer had got lost.
	Late bool
	// Hang: the call does not return before its context ends.
	Hang bool
	// Skip is how many calls go well before the first that does not.
	Skip int
	// Times is how often it happens. Default: always.
	Times int
	// Share of the calls that it happens to, from 0 to 1. Default: all.
	Share float64
}

// errFault is what a call returns that was told to fail and not how.
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
