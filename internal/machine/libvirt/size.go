// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"cmp"
	"fmt"
	"math"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The size of a guest whose spec does not say one.
const (
	defaultMilliCPU = 1000
	defaultMemory   = 512 << 20
)

// The least that a guest can have. The kernel refuses less than a hundredth of a processor.
const (
	minMilliCPU = 10
	minMemory   = 1 << 20
)

// limits are a size in libvirt's units.
type limits struct {
	// vcpus that the guest has, and the most that it can have while it runs.
	vcpus, maxVCPUs int64
	// kib of memory that the guest has, and the most that it can have while it runs.
	kib, maxKiB int64
	// quota of processor time for the whole domain, in microseconds per quotaPeriod. Zero: no quota.
	quota int64
}

// limits converts a size. The number of processors can double, because processors that are not plugged in cost nothing. Memory can grow up to the
// headroom only, because a guest sees all of it until it has given back the rest.
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

// checkLeast refuses sizes that no host can provide.
func checkLeast(size machine.Resources) error {
	switch {
	case size.MilliCPU < 0 || size.MilliCPU > 0 && size.MilliCPU < minMilliCPU:
		return fmt.Errorf("%w: %dm of CPU is less than the minimum of %dm", machine.ErrInvalid,
			size.MilliCPU, minMilliCPU)
	case size.MemoryBytes < 0 || size.MemoryBytes > 0 && size.MemoryBytes < minMemory:
		return fmt.Errorf("%w: %d bytes of memory are less than the minimum of a guest", machine.ErrInvalid, size.MemoryBytes)
	case size.RootDiskBytes < 0:
		return fmt.Errorf("%w: the size of its root disk is negative", machine.ErrInvalid)
	}
	return nil
}

// checkSize refuses sizes that no host, or not this one, can provide.
func (h hostFacts) checkSize(size machine.Resources) error {
	switch err := checkLeast(size); {
	case err != nil:
		return err
	case vcpusOf(size.MilliCPU) > h.cpus:
		return fmt.Errorf("%w: the host has %d CPUs, and the machine needs %d", machine.ErrNoCapacity, h.cpus, vcpusOf(size.MilliCPU))
	case size.MemoryBytes > h.memoryBytes:
		return fmt.Errorf("%w: the host has %d bytes of memory, and the machine needs %d", machine.ErrNoCapacity, h.memoryBytes, size.MemoryBytes)
	}
	return nil
}

// signed and unsigned convert between libvirt's numbers and ours. A number that does not fit becomes the nearest one that does.
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

// unsigned64 converts an offset or a length.
func unsigned64(n int64) uint64 { return uint64(max(n, 0)) }

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
