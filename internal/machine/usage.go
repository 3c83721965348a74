// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import "time"

// Usage is what a machine used between two samples.
type Usage struct {
	// CPUPercent is the share of the machine's CPU limit, or of the host where it has none. It may go a little over 100.
	CPUPercent float64
	// CPUCores is the number of processors that were busy for it, on average.
	CPUCores float64
	// MemoryPercent is the share of the machine's memory limit, or of the host's memory where it has none.
	MemoryPercent float64
	// MemoryBytes is the working set.
	MemoryBytes int64
	// SampledAt is when the later sample was taken.
	SampledAt time.Time
}

// minWindow is how far apart two samples have to be: what a counter says of less than this is mostly its granularity.
const minWindow = 100 * time.Millisecond

// Measure computes the usage from two samples of one machine. The later one alone gives the memory. CPU is known, which the
// second result says, only if the samples are of one boot, in order and at least a tenth of a second apart, and the counter has not
// gone backwards; otherwise its fields are zero, and the caller goes on with the later sample. Percentages are zero where neither
// machine nor host says how much there is.
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

// percent of the limit, or of all that the host has.
func percent(used float64, limit, host int64) float64 {
	if limit <= 0 {
		limit = host
	}
	if limit <= 0 {
		return 0
	}
	return used / float64(limit) * 100
}
