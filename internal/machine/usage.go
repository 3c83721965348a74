// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import "time"

// Usage is what a machine used between two samples.
type Usage struct {
	// CPUPercent is the share of the machine's CPU limit, or of the host's CPU if it has none. It can slightly exceed 100.
	CPUPercent float64
	// CPUCores is how many processors the machine kept busy on average.
	CPUCores float64
	// MemoryPercent is the share of the machine's memory limit, or of the host's memory if it has none.
	MemoryPercent float64
	// MemoryBytes is the working set.
	MemoryBytes int64
	// SampledAt is when the later sample was taken.
	SampledAt time.Time
}

// minWindow is how far apart two samples must be. Over less time, a counter mostly shows its own granularity.
const minWindow = 100 * time.Millisecond

// Measure computes the usage from two samples of one machine. Memory is that of the later sample. CPU is known, as the second
// result says, only if the samples belong to the same boot, are in order and at least a tenth of a second apart, and the counter
// did not go backwards. Otherwise the CPU fields are zero, and the caller continues with the later sample. Percentages are zero
// if neither the machine nor the host has a limit to compare with.
func Measure(earlier, later Sample, host Resources) (Usage, bool) {
	usage := Usage{
		MemoryBytes:   later.MemoryBytes,
		MemoryPercent: percent(float64(later.MemoryBytes), later.Limits.MemoryBytes, host.MemoryBytes),
		SampledAt:     later.At,
	}
	window := later.At.Sub(earlier.At)
	if later.Boot != earlier.Boot || window < minWindow || later.CPU < earlier.CPU {
		return usage, false
	}
	usage.CPUCores = float64(later.CPU-earlier.CPU) / float64(window)
	usage.CPUPercent = percent(usage.CPUCores*1000, later.Limits.MilliCPU, host.MilliCPU)
	return usage, true
}

// percent is the share of the limit, or of the host if there is no limit.
func percent(used float64, limit, host int64) float64 {
	if limit <= 0 {
		limit = host
	}
	if limit <= 0 {
		return 0
	}
	return used / float64(limit) * 100
}
