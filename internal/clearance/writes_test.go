// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package clearance_test

import (
	"testing"

	"github.com/windlass-operator/windlass/internal/clearance"
)

func TestWritesForOtherVersionsAreKnownUntilTheyEnd(t *testing.T) {
	t.Parallel()
	version := func(pool string, generation int64) clearance.Version {
		return clearance.Version{Pool: pool, UID: "u", Generation: generation}
	}
	writes := &clearance.Writes{}
	former, present, other := []clearance.Version{version("p", 1)}, []clearance.Version{version("p", 2)}, []clearance.Version{version("q", 1)}
	steps := []struct {
		name string
		do   func()
		want bool
	}{
		{"no write", func() {}, false},
		{"a write for the same version, and one for another pool", func() { writes.Begin(present); writes.Begin(other) }, false},
		{"two for a former version", func() { writes.Begin(former); writes.Begin(former) }, true},
		{"one of them has ended", func() { writes.End(former) }, true},
		{"both have", func() { writes.End(former) }, false},
		{"a pool that had the name before", func() { writes.Begin([]clearance.Version{{Pool: "p", UID: "before", Generation: 2}}) }, true},
	}
	for _, step := range steps {
		step.do()
		if got := writes.Others(version("p", 2)); got != step.want {
			t.Errorf("%s: %t, want %t", step.name, got, step.want)
		}
	}
}
