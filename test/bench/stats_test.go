// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"testing"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		values []float64
		want   float64
	}{
		"nothing":             {nil, 0},
		"one":                 {[]float64{3}, 3},
		"the middle one":      {[]float64{9, 1, 5}, 5},
		"between the two":     {[]float64{4, 1, 2, 9}, 3},
		"an outlier is quiet": {[]float64{1, 1, 1, 1, 1000}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := median(tc.values); got != tc.want {
				t.Errorf("median is %v, want %v", got, tc.want)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	floor, ours := &series{}, &series{}
	for round, value := range []float64{100, 2, 2.2, 1.8, 2, 2.1} {
		floor.add(round, value)
		ours.add(round, 1.1*value)
	}
	got := compare("ours", ours, floor, 1.2)
	if math.Abs(got.Value-1.1) > 1e-9 {
		t.Errorf("ratio is %v, want 1.1: the warm-up has to be dropped", got.Value)
	}
	if got.Low > got.Value || got.High < got.Value || got.Low < 0.9 || got.High > 1.4 {
		t.Errorf("interval is [%v, %v], want it around 1.1 and within the spread of the rounds", got.Low, got.High)
	}
	if again := compare("ours", ours, floor, 1.2); again != got {
		t.Errorf("the same rounds give %+v and %+v", got, again)
	}
	if none := compare("ours", ours, &series{}, 0); none.Value != 0 {
		t.Errorf("ratio to nothing is %v, want 0", none.Value)
	}
}

func TestLiveMemory(t *testing.T) {
	t.Parallel()
	for profile, want := range map[string]float64{
		"heap profile: 1: 2\n# Sys = 9\n# HeapAlloc = 1000\n# Stack = 24 / 99\n": 1024, "heap profile: 1: 2\n# HeapAlloc = 1\n": -1,
		"# HeapAlloc = x\n# Stack = 1 / 2\n": -1,
	} {
		got, err := liveMemory(profile)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q is read as %g, %v; want %g", profile, got, err, want)
		}
	}
}
