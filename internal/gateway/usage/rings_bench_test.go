// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"fmt"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkRings records a point of 5,000 objects and sums them up. It reports the memory of one object.
func BenchmarkRings(b *testing.B) {
	const objects = 5000
	var ids []types.UID
	for n := range objects {
		ids = append(ids, types.UID(fmt.Sprintf("11111111-2222-3333-4444-%012d", n)))
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	rings := NewRings()
	minutes := 0
	record := func() {
		minutes++
		for _, id := range ids {
			rings.Record(id, at(minutes), at(minutes), 1, 1<<30)
		}
	}
	record()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.Run("record", func(b *testing.B) {
		for b.Loop() {
			record()
		}
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/objects, "B/object")
	})
	b.Run("sum", func(b *testing.B) {
		for b.Loop() {
			rings.Series(at(minutes), ids...)
		}
	})
}
