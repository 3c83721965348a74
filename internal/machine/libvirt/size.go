// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"cmp"
	"fmt"
	"math"

	"github.com/windlass-operator/windlass/internal/machine"
)

// What a guest gets where nobody says how much: it cannot be without.
const (
	defaultMilliCPU = 1000
	defaultMemory   = 512 << 20
)

// Bounds of what can be told to a hypervisor. Less than a hundredth of a processor is refused by the kernel.
const (
	minMilliCPU = 10
	minMemory   = 1 << 20
)

// limits are a size in libvirt's words.
type limits struct {
	// vcpus that the guest has, and how many it can be given while it runs.
	vcpus, maxVCPUs int64
	// kib of memory that the guest has, and how many it can be given while it runs.
	kib, maxKiB int64
	// quota of processor time for all of the domain, in microseconds of quotaPeriod. Zero: as much as its processors can take.
	quota int64
}

// limits translates a size. Processors can be added up to twice as many, because those that are not there cost nothing; memory up to
// the headroom, because a guest sees all of it until it has given back the rest.
func (h hostFacts) limits(size machine.Resources) limits {
	out := limits{vcpus: vcpusOf(size.MilliCPU), kib: kibOf(size.MemoryBytes)}
	out.maxVCPUs = max(out.vcpus, min(2*out.vcpus, h.cpus))
	out.maxKiB = out.kib * max(1, h.headroom)
	if size.MilliCPU%1000 != 0 {
		out.quota = size.MilliCPU * quotaPeriod / 1000
	}
	return out
}

// vcpusOf rounds thousandths up to whole processors.
func vcpusOf(milli int64) int64 { return (cmp.Or(milli, defaultMilliCPU) + 999) / 1000 }

// kibOf rounds bytes up to whole mebibytes, as QEMU would, and returns kibibytes.
func kibOf(bytes int64) int64 { return (cmp.Or(bytes, defaultMemory) + 1<<20 - 1) >> 20 << 10 }

// checkSize refuses what no host can give, and what this one has not.
func (h hostFacts) checkSize(size machine.Resources) error {
	switch {
	case size.MilliCPU < 0 || size.MilliCPU > 0 && size.MilliCPU < minMilliCPU:
		return fmt.Errorf("%w: %d thousandths of a CPU are less than the %d that a kernel can give", machine.ErrInvalid,
			size.MilliCPU, minMilliCPU)
	case size.MemoryBytes < 0 || size.MemoryBytes > 0 && size.MemoryBytes < minMemory:
		return fmt.Errorf("%w: %d bytes of memory are less than a guest can have", machine.ErrInvalid, size.MemoryBytes)
	case size.RootDiskBytes < 0:
		return fmt.Errorf("%w: its root disk is negative", machine.ErrInvalid)
	case vcpusOf(size.MilliCPU) > h.cpus:
		return fmt.Errorf("%w: it has %d CPUs, and %d are asked for", machine.ErrNoCapacity, h.cpus, vcpusOf(size.MilliCPU))
	case size.MemoryBytes > h.memoryBytes:
		return fmt.Errorf("%w: it has %d bytes of memory, and %d are asked for", machine.ErrNoCapacity, h.memoryBytes, size.MemoryBytes)
	}
	return nil
}

// signed and unsigned convert between libvirt's numbers and ours. What does not fit becomes the nearest number that does.
func signed(n uint64) int64 {
	if n > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n)
}

func unsigned(n int64) uint64 {
	if n < 0 {
		return 0
	}
	return uint64(n)
}

// unsigned32 does the same for the shorter numbers of some calls.
func unsigned32(n int64) uint32 {
	if n < 0 {
		return 0
	}
	if n > math.MaxUint32 {
		return math.MaxUint32
	}
	return uint32(n)
}
