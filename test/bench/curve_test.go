// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestExponent(t *testing.T) {
	t.Parallel()
	grows := func(of func(size float64) float64) []point {
		var points []point
		for _, size := range []int{1000, 2000, 5000, 15000} {
			points = append(points, point{Size: size, Values: []float64{of(float64(size))}})
		}
		return points
	}
	cases := map[string]struct {
		points []point
		want   float64
	}{
		"nothing":               {nil, 0},
		"one size":              {grows(math.Sqrt)[:1], 0},
		"what does not grow":    {grows(func(float64) float64 { return 7 }), 0},
		"the size itself":       {grows(func(size float64) float64 { return 3 * size }), 1},
		"its square":            {grows(func(size float64) float64 { return size * size }), 2},
		"its root":              {grows(math.Sqrt), 0.5},
		"a size without values": {append(grows(func(size float64) float64 { return size }), point{Size: 20000}), 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := exponent(tc.points); math.Abs(got-tc.want) > 1e-9 {
				t.Errorf("the exponent is %v, want %v", got, tc.want)
			}
		})
	}
}

func TestCurves(t *testing.T) {
	t.Parallel()
	c := curves{over: "number of nodes"}
	for _, size := range []int{1000, 2000, 4000} {
		c.add(size, "writes", "writes", []float64{float64(size)})
		c.add(size, "time", "s", []float64{1, float64(size), 9})
	}
	var out bytes.Buffer
	writeCurves(&out, c.list)
	for _, want := range []string{"number of nodes  1000  2000  4000  exponent  of the last two", "writes  1000  2000  4000      1.00             1.00  writes"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}
	if len(c.list) != 2 || len(c.list[1].Points) != 3 || math.Abs(c.list[1].Last) > 1e-9 {
		t.Errorf("the curves are %+v", c.list)
	}
}
