// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func TestSeries(t *testing.T) {
	t.Parallel()
	rings := NewRings()
	for _, minutes := range []int{0, 1, 3, 3} {
		rings.Record("a", at(minutes).Add(time.Second), at(minutes).Add(time.Second), float64(minutes)+0.25, 1<<30)
	}
	rings.Record("b", at(2), at(3), 1, 1<<20) // late
	rings.Record("b", at(1), at(3), 1, 1<<20) // later still
	rings.Record("b", at(3), at(3), 1, 1<<20)
	one := func(minutes int) Point {
		return Point{Time: at(minutes), CPUCores: float64(minutes) + 0.25, MemoryBytes: 1 << 30, Objects: 1}
	}
	if diff := cmp.Diff([]Point{one(0), one(1), one(3)}, rings.Series(at(4), "a")); diff != "" {
		t.Errorf("one object (-want +got):\n%s", diff)
	}
	want := []Point{
		one(0),
		{Time: at(1), CPUCores: 2.25, MemoryBytes: 1<<30 + 1<<20, Objects: 2},
		{Time: at(2), CPUCores: 1, MemoryBytes: 1 << 20, Objects: 1},
		{Time: at(3), CPUCores: 4.25, MemoryBytes: 1<<30 + 1<<20, Objects: 2},
	}
	if diff := cmp.Diff(want, rings.Series(at(4), "a", "b", "unknown")); diff != "" {
		t.Errorf("the sum (-want +got):\n%s", diff)
	}
}

// TestOldPointsEnd goes once around a ring, and leaves it alone for longer than that.
func TestOldPointsEnd(t *testing.T) {
	t.Parallel()
	rings := NewRings()
	for minutes := range Points + 10 {
		rings.Record("a", at(minutes), at(minutes), 1, 1<<20)
	}
	series := rings.Series(at(Points+9), "a")
	if len(series) != Points || series[0].Time != at(10) {
		t.Errorf("there are %d points from %s", len(series), series[0].Time)
	}
	later := 3 * Points
	rings.Record("a", at(later), at(later), 1, 1<<20)
	if series := rings.Series(at(later), "a"); len(series) != 1 {
		t.Errorf("after a pause there are %d points", len(series))
	}
	rings.Forget(at(later + Points - 1))
	kept := len(rings.byID)
	rings.Forget(at(later + Points))
	if kept != 1 || len(rings.byID) != 0 {
		t.Errorf("%d objects are kept, and then %d", kept, len(rings.byID))
	}
}

// TestAttackFiguresOfAStatus records what a status can say if somebody else writes it.
func TestAttackFiguresOfAStatus(t *testing.T) {
	t.Parallel()
	rings := NewRings()
	rings.Record("good", noon, noon, 1, 1<<20)
	for _, of := range []time.Time{at(2), at(1 << 20), at(-Points), {}, time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0)} {
		rings.Record("good", of, noon, 9, 9<<20)
		rings.Record("other", of, noon, 9, 9<<20)
	}
	rings.Record("other", noon, noon, 9, 0)
	rings.Record("other", noon, noon, 9, -1)
	want := []Point{{Time: noon, CPUCores: 1, MemoryBytes: 1 << 20, Objects: 1}}
	if diff := cmp.Diff(want, rings.Series(noon, "good", "other")); diff != "" || len(rings.byID) != 1 {
		t.Errorf("%d objects (-want +got):\n%s", len(rings.byID), diff)
	}
	for _, value := range []float64{math.NaN(), math.Inf(-1), -5} {
		rings.Record("good", noon, noon, value, 1)
		if got := rings.Series(noon, "good"); got[0].CPUCores != 0 || got[0].MemoryBytes != 1024 {
			t.Errorf("%v becomes %+v", value, got)
		}
	}
	rings.Record("good", noon, noon, math.Inf(1), math.MaxInt64)
	if got := rings.Series(noon, "good"); got[0].CPUCores < 4e6 || got[0].MemoryBytes < 4<<40-1024 {
		t.Errorf("the largest figures become %+v", got)
	}
	for n := range MaxObjects + 10 {
		rings.Record(types.UID(strconv.Itoa(n)), noon, noon, 1, 1)
	}
	if len(rings.byID) != MaxObjects {
		t.Errorf("%d objects are kept, want %d", len(rings.byID), MaxObjects)
	}
}
