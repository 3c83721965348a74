// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// curve is how a quantity grows with the size of something.
type curve struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Over is what grows, as in "number of nodes".
	Over   string  `json:"over"`
	Points []point `json:"points"`
	// Exponent is that of the power of the size that fits the medians best: 1 for what grows as the size does, 0 for what does not grow.
	Exponent float64 `json:"exponent"`
	// Last is the exponent between the last two sizes alone, which are the least hidden by what does not grow.
	Last float64 `json:"last"`
}

// point is what was measured at one size.
type point struct {
	Size   int       `json:"size"`
	Values []float64 `json:"values"`
}

// curves are those of a section, by their names.
type curves struct {
	over  string
	list  []*curve
	named map[string]*curve
}

// add adds what was measured at a size, which is greater than those before it.
func (c *curves) add(size int, name, unit string, values []float64) {
	known, ok := c.named[name]
	if !ok {
		known = &curve{Name: name, Unit: unit, Over: c.over}
		if c.named == nil {
			c.named = map[string]*curve{}
		}
		c.named[name] = known
		c.list = append(c.list, known)
	}
	known.Points = append(known.Points, point{Size: size, Values: values})
	known.Exponent = exponent(known.Points)
	known.Last = exponent(known.Points[max(0, len(known.Points)-2):])
}

// exponent fits the medians to a power of the size, by the least squares of the logarithms. It is 0 where there are not two sizes with
// something to measure.
func exponent(points []point) float64 {
	var n, sumX, sumY, sumXX, sumXY float64
	for _, p := range points {
		value := median(p.Values)
		if p.Size <= 0 || value <= 0 {
			continue
		}
		x, y := math.Log(float64(p.Size)), math.Log(value)
		n, sumX, sumY, sumXX, sumXY = n+1, sumX+x, sumY+y, sumXX+x*x, sumXY+x*y
	}
	if spread := n*sumXX - sumX*sumX; n > 1 && spread > 0 {
		return (n*sumXY - sumX*sumY) / spread
	}
	return 0
}

// writeCurves writes the medians of curves for people: a line for each curve, a column for each size.
func writeCurves(out io.Writer, all []*curve) {
	if len(all) == 0 {
		return
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%s\t", all[0].Over)
	for _, p := range all[0].Points {
		fmt.Fprintf(table, "%d\t", p.Size)
	}
	fmt.Fprintf(table, "exponent\tof the last two\t\n")
	for _, c := range all {
		fmt.Fprintf(table, "%s\t", c.Name)
		for _, p := range c.Points {
			fmt.Fprintf(table, "%s\t", number(median(p.Values)))
		}
		fmt.Fprintf(table, "%.2f\t%.2f\t  %s\n", c.Exponent, c.Last, c.Unit)
	}
	_ = table.Flush()
}
