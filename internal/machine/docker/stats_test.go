// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Hosts differ in what they count: cgroup v2 has no counter per processor, on which a usage was once computed that was always zero.
func TestSampleOf(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	limits := machine.Resources{MilliCPU: 500, MemoryBytes: 1 << 20}
	for name, test := range map[string]struct {
		answer string
		want   machine.Sample
	}{
		"cgroup v1": {
			`{"read":"2026-01-02T03:04:05Z","cpu_stats":{"cpu_usage":{"total_usage":7000,"percpu_usage":[3000,4000]},"online_cpus":2},
			"memory_stats":{"usage":1000,"stats":{"cache":500,"inactive_file":1,"total_inactive_file":300}}}`,
			machine.Sample{At: at, Boot: "boot", CPU: 7 * time.Microsecond, MemoryBytes: 700, Limits: limits},
		},
		"cgroup v2": {
			`{"read":"2026-01-02T03:04:05Z","cpu_stats":{"cpu_usage":{"total_usage":7000},"online_cpus":2},
			"memory_stats":{"usage":1000,"stats":{"inactive_file":300}}}`,
			machine.Sample{At: at, Boot: "boot", CPU: 7 * time.Microsecond, MemoryBytes: 700, Limits: limits},
		},
		"an old kernel": {
			`{"read":"2026-01-02T03:04:05Z","cpu_stats":{"cpu_usage":{"total_usage":7000}},"memory_stats":{"usage":1000,"stats":{"cache":400}}}`,
			machine.Sample{At: at, Boot: "boot", CPU: 7 * time.Microsecond, MemoryBytes: 600, Limits: limits},
		},
		"more cache than use": {
			`{"read":"2026-01-02T03:04:05Z","cpu_stats":{"cpu_usage":{"total_usage":7000}},"memory_stats":{"usage":10,"stats":{"cache":400}}}`,
			machine.Sample{At: at, Boot: "boot", CPU: 7 * time.Microsecond, Limits: limits},
		},
		"a container that has ended": {
			`{"read":"0001-01-01T00:00:00Z","cpu_stats":{"cpu_usage":{"total_usage":0}},"memory_stats":{}}`, machine.Sample{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stats container.StatsResponse
			if err := json.Unmarshal([]byte(test.answer), &stats); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, sampleOf(stats, "boot", limits)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
