// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"math"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// Interval is how far apart points are.
	Interval = time.Minute
	// Points is how many points of an object are kept: those of three hours.
	Points = 180
	// MaxObjects is how many objects have points. With 1.5 KiB each, that is 30 MiB.
	MaxObjects = 20_000
)

// Point is what was used at a time.
type Point struct {
	Time        time.Time
	CPUCores    float64
	MemoryBytes int64
	// Objects is how many objects the point is the sum of.
	Objects int
}

// ring has the points of one object, by the number of their minute modulo Points. A memory of zero means that there is no point.
type ring struct {
	// newest is the number of the last minute that has a point.
	newest   int64
	milliCPU [Points]uint32
	memory   [Points]uint32 // in KiB
}

// Rings has the points of objects.
type Rings struct {
	mu   sync.Mutex
	byID map[types.UID]*ring
}

// NewRings returns Rings without points.
func NewRings() *Rings { return &Rings{byID: map[types.UID]*ring{}} }

// minute returns the number of the minute of a time.
func minute(at time.Time) int64 { return at.Unix() / int64(Interval/time.Second) }

// Record keeps a point. A time that is not within the last hours is not believed: it comes from a status, which others can write. It
// replaces an earlier point of the minute.
func (r *Rings) Record(id types.UID, at, now time.Time, cpuCores float64, memoryBytes int64) {
	of, newest := minute(at), minute(now)
	if of > newest || of <= newest-Points || memoryBytes <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.byID[id]
	switch {
	case found == nil && len(r.byID) >= MaxObjects:
		return
	case found == nil:
		found = &ring{newest: of}
		r.byID[id] = found
	case of <= found.newest-Points:
		return
	}
	for missed := max(found.newest+1, of-Points+1); missed < of; missed++ {
		found.memory[missed%Points] = 0
	}
	found.newest = max(found.newest, of)
	found.milliCPU[of%Points] = saturated(cpuCores * 1000)
	found.memory[of%Points] = max(saturated(float64(memoryBytes)/1024), 1)
}

// saturated returns the nearest number that fits.
func saturated(value float64) uint32 {
	if !(value > 0) { // also if it is not a number
		return 0
	}
	return uint32(min(math.Round(value), math.MaxUint32))
}

// Series returns the points of the objects together, the oldest first. Minutes without any point are left out.
func (r *Rings) Series(now time.Time, ids ...types.UID) []Point {
	oldest := minute(now) - Points + 1
	var sums [Points]Point
	for i := range sums {
		sums[i].Time = time.Unix((oldest+int64(i))*int64(Interval/time.Second), 0).UTC()
	}
	r.mu.Lock()
	for _, id := range ids {
		if found := r.byID[id]; found != nil {
			found.addTo(&sums, oldest)
		}
	}
	r.mu.Unlock()
	return slices.DeleteFunc(sums[:], func(point Point) bool { return point.Objects == 0 })
}

// addTo adds the points since the oldest minute.
func (r *ring) addTo(sums *[Points]Point, oldest int64) {
	for of := max(oldest, r.newest-Points+1); of <= min(oldest+Points-1, r.newest); of++ {
		at := of % Points
		if r.memory[at] == 0 {
			continue
		}
		sum := &sums[of-oldest]
		sum.Objects++
		sum.CPUCores += float64(r.milliCPU[at]) / 1000
		sum.MemoryBytes += int64(r.memory[at]) * 1024
	}
}

// Forget drops objects that have no point of the last hours.
func (r *Rings) Forget(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, found := range r.byID {
		if found.newest <= minute(now)-Points {
			delete(r.byID, id)
		}
	}
}
