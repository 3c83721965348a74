// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMeasure(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	limits := Resources{MilliCPU: 2000, MemoryBytes: 4e9}
	before := Sample{At: noon, Boot: "1", CPU: time.Minute, MemoryBytes: 5e8, Limits: limits}
	after := Sample{At: noon.Add(10 * time.Second), Boot: "1", CPU: time.Minute + 5*time.Second, MemoryBytes: 1e9, Limits: limits}
	memory := Usage{MemoryPercent: 25, MemoryBytes: 1e9, SampledAt: after.At}
	host := Resources{MilliCPU: 10_000, MemoryBytes: 10e9}

	for name, c := range map[string]struct {
		earlier, later func(*Sample)
		host           Resources
		want           Usage
		known          bool
	}{
		"half a core of two is a quarter": {
			host: host, want: Usage{CPUPercent: 25, CPUCores: 0.5, MemoryPercent: 25, MemoryBytes: 1e9, SampledAt: after.At}, known: true,
		},
		"an idle machine uses nothing": {
			later: func(s *Sample) { s.CPU = before.CPU }, host: host, want: memory, known: true,
		},
		"another boot begins anew": {
			later: func(s *Sample) { s.Boot, s.CPU = "2", 2*time.Minute }, host: host, want: memory,
		},
		"a counter that goes backwards is not believed": {
			later: func(s *Sample) { s.CPU = time.Second }, host: host, want: memory,
		},
		"a clock that goes backwards is not believed": {
			earlier: func(s *Sample) { s.At = after.At.Add(time.Second) }, host: host, want: memory,
		},
		"one moment says nothing": {
			earlier: func(s *Sample) { s.At = after.At }, host: host, want: memory,
		},
		"too short a window says nothing": {
			earlier: func(s *Sample) { s.At = after.At.Add(-99 * time.Millisecond) }, host: host, want: memory,
		},
		"no sample before says nothing": {
			earlier: func(s *Sample) { *s = Sample{} }, host: host, want: memory,
		},
		"without limits it is the share of the host": {
			later: func(s *Sample) { s.Limits = Resources{} }, host: host,
			want: Usage{CPUPercent: 5, CPUCores: 0.5, MemoryPercent: 10, MemoryBytes: 1e9, SampledAt: after.At}, known: true,
		},
		"without limits and host there is no share": {
			later: func(s *Sample) { s.Limits = Resources{} },
			want:  Usage{CPUCores: 0.5, MemoryBytes: 1e9, SampledAt: after.At}, known: true,
		},
		"the limit is that of the later sample": {
			earlier: func(s *Sample) { s.Limits.MilliCPU = 1 }, host: host,
			want: Usage{CPUPercent: 25, CPUCores: 0.5, MemoryPercent: 25, MemoryBytes: 1e9, SampledAt: after.At}, known: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			earlier, later := before, after
			if c.earlier != nil {
				c.earlier(&earlier)
			}
			if c.later != nil {
				c.later(&later)
			}
			got, known := Measure(earlier, later, c.host)
			if diff := cmp.Diff(c.want, got); diff != "" || known != c.known {
				t.Errorf("known is %v, want %v; (-want +got):\n%s", known, c.known, diff)
			}
		})
	}
}

// TestMeasureProperties wants numbers that can be shown from whatever two samples say.
func TestMeasureProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5000) {
		dice := rand.New(rand.NewPCG(seed, 2))
		sample := func() Sample {
			return Sample{
				At:          time.Unix(0, dice.Int64()),
				Boot:        []string{"", "1", "2"}[dice.IntN(3)],
				CPU:         time.Duration(dice.Int64N(math.MaxInt64)),
				MemoryBytes: dice.Int64N(1 << 50),
				Limits:      Resources{MilliCPU: dice.Int64N(3) * dice.Int64N(1<<40), MemoryBytes: dice.Int64N(3) * dice.Int64N(1<<50)},
			}
		}
		a, b := sample(), sample()
		usage, known := Measure(a, b, Resources{MilliCPU: dice.Int64N(2) * 4000})
		for name, value := range map[string]float64{
			"CPUPercent": usage.CPUPercent, "CPUCores": usage.CPUCores, "MemoryPercent": usage.MemoryPercent,
		} {
			if value < 0 || math.IsNaN(value) || math.IsInf(value, 0) {
				t.Fatalf("seed %d: %s is %v of %+v and %+v", seed, name, value, a, b)
			}
		}
		if !known && (usage.CPUPercent != 0 || usage.CPUCores != 0) {
			t.Fatalf("seed %d: CPU is not known and yet %+v", seed, usage)
		}
		if _, back := Measure(b, a, Resources{}); known && back {
			t.Fatalf("seed %d: both directions of %+v and %+v are forward", seed, a, b)
		}
		if usage.MemoryBytes != b.MemoryBytes || !usage.SampledAt.Equal(b.At) {
			t.Fatalf("seed %d: memory and time are not those of the later sample: %+v", seed, usage)
		}
	}
}
