// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// measuring: running machines have counters, which grow until the next start.
func measuring() cases {
	return cases{
		"a running machine has counters, and one that is off has none": func(t *testing.T, tr *trial) {
			runs, off, never := tr.running(t), tr.stopped(t), tr.created(t)
			sample := tr.sample(t, runs.UID)
			if sample.At.IsZero() || sample.Boot == "" || sample.MemoryBytes <= 0 {
				t.Errorf("the sample is incomplete: %+v", sample)
			}
			if sample.Limits.MilliCPU != runs.Resources.MilliCPU || sample.Limits.MemoryBytes != runs.Resources.MemoryBytes {
				t.Errorf("the sample has the limits %+v, want %+v", sample.Limits, runs.Resources)
			}
			all := tr.stats(t, tr.installation)
			for _, uid := range []string{off.UID, never.UID} {
				if sample, ok := all[uid]; ok {
					t.Errorf("a machine that is off has the sample %+v", sample)
				}
			}
		},
		"another installation has no counters": func(t *testing.T, tr *trial) {
			tr.running(t)
			if all := tr.stats(t, newUUID()); len(all) != 0 {
				t.Errorf("Stats has %+v, want none", all)
			}
		},
		"counters do not go backwards": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			before := tr.sample(t, spec.UID)
			tr.eventually(t, "the next sample is there", func() bool { return tr.sample(t, spec.UID).At.After(before.At) })
			after := tr.sample(t, spec.UID)
			if after.CPU < before.CPU || after.Boot != before.Boot {
				t.Errorf("the counters restarted: %+v, then %+v", before, after)
			}
		},
		"a busy machine uses CPU, within its limit": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Load != nil, "the subject cannot make busy machines")
			spec := tr.Load(tr.spec())
			tr.create(t, spec)
			tr.start(t, spec.Identity)
			before := tr.sample(t, spec.UID)
			var usage machine.Usage
			tr.eventually(t, "it has used CPU", func() bool {
				var known bool
				usage, known = machine.Measure(before, tr.sample(t, spec.UID), tr.info.Capacity)
				return known && usage.CPUCores > 0
			})
			// The kernel lets a group use what it saved in the previous period, but never twice the limit.
			if usage.CPUPercent > 200 {
				t.Errorf("it uses %.0f percent of its limit", usage.CPUPercent)
			}
		},
		"counters restart with a new start": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			before := tr.sample(t, spec.UID)
			tr.stop(t, spec.Identity)
			tr.start(t, spec.Identity)
			if after := tr.sample(t, spec.UID); after.Boot == before.Boot {
				t.Errorf("both runs are boot %q", after.Boot)
			}
		},
	}
}

func (tr *trial) stats(t *testing.T, installation string) map[string]machine.Sample {
	t.Helper()
	all, err := tr.Driver.Stats(limited(t), installation)
	if err != nil {
		t.Fatalf("Stats: %v", err)
	}
	return all
}

// sample waits for a sample of a running machine, whose counters can appear a moment after its start.
func (tr *trial) sample(t *testing.T, uid string) machine.Sample {
	t.Helper()
	var sample machine.Sample
	tr.eventually(t, "the machine has counters", func() bool {
		var ok bool
		sample, ok = tr.stats(t, tr.installation)[uid]
		return ok
	})
	return sample
}
