// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	width, height = 16 * vg.Centimeter, 9 * vg.Centimeter
	line          = vg.Length(1.5)
	// room is how much higher the axis ends than the highest point, and lower than the lowest one.
	room = 1.25
)

// colours are told apart in gray as well, by how dark they are; shapes of points tell them apart without any.
func colours() []color.Color {
	return []color.Color{
		color.RGBA{R: 0x1b, G: 0x5b, B: 0xd6, A: 0xff},
		color.RGBA{R: 0xb4, G: 0x53, B: 0x09, A: 0xff},
		color.RGBA{R: 0x0f, G: 0x76, B: 0x48, A: 0xff},
		color.RGBA{R: 0x9d, G: 0x17, B: 0x4d, A: 0xff},
		color.RGBA{R: 0x47, G: 0x55, B: 0x69, A: 0xff},
		color.RGBA{R: 0x6d, G: 0x28, B: 0xd9, A: 0xff},
	}
}

func shapes() []draw.GlyphDrawer {
	return []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}}
}

// drawCurves draws curves of one unit on logarithmic axes, on which a power is a straight line: medians as points, the rounds as bars.
func drawCurves(curves []curve) ([]byte, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = curves[0].Over, curves[0].Unit
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = sizes(curves), decades{}
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Millimeter
	p.Add(plotter.NewGrid())
	for i, c := range curves {
		measured, err := pointsOf(c)
		if err != nil {
			return nil, err
		}
		drawn, dots, err := plotter.NewLinePoints(measured)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		bars, err := plotter.NewYErrorBars(measured)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		drawn.Color, drawn.Width = colours()[i%len(colours())], line
		dots.Color, dots.Shape = drawn.Color, shapes()[i%len(shapes())]
		bars.Color = drawn.Color
		p.Add(bars, drawn, dots)
		p.Legend.Add(fmt.Sprintf("%s, exponent %.2f", c.Name, c.Exponent), drawn, dots)
	}
	p.Y.Min, p.Y.Max = p.Y.Min/room, p.Y.Max*room*room*room // with the legend above them
	p.X.Max *= room                                         // the last size is not cut off
	writer, err := p.WriterTo(width, height, "svg")
	if err != nil {
		return nil, fmt.Errorf("cannot draw: %w", err)
	}
	var out bytes.Buffer
	if _, err := writer.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("cannot draw: %w", err)
	}
	return out.Bytes(), nil
}

// measured are the medians of a curve and how far the rounds lie apart.
type measured struct {
	plotter.XYs
	plotter.YErrors
}

var errNothing = errors.New("there is a size without a value above zero, which has no place on a logarithmic axis")

func pointsOf(c curve) (measured, error) {
	var out measured
	for _, p := range c.Points {
		values := slices.Sorted(slices.Values(p.Values))
		if len(values) == 0 || values[0] <= 0 || p.Size <= 0 {
			return out, fmt.Errorf("%s at %d: %w", c.Name, p.Size, errNothing)
		}
		middle := (values[(len(values)-1)/2] + values[len(values)/2]) / 2
		out.XYs = append(out.XYs, plotter.XY{X: float64(p.Size), Y: middle})
		out.YErrors = append(out.YErrors, struct{ Low, High float64 }{middle - values[0], values[len(values)-1] - middle})
	}
	return out, nil
}

// sizes marks those that were measured.
func sizes(curves []curve) plot.ConstantTicks {
	var out plot.ConstantTicks
	for _, p := range curves[0].Points {
		out = append(out, plot.Tick{Value: float64(p.Size), Label: strconv.Itoa(p.Size)})
	}
	return out
}

// decades marks 1, 2 and 5 of each power of ten.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(low, high float64) []plot.Tick {
	var out []plot.Tick
	for power := 1e-6; power <= high; power *= 10 {
		for _, times := range []float64{1, 2, 5} {
			if at := power * times; at >= low && at <= high {
				out = append(out, plot.Tick{Value: at, Label: strconv.FormatFloat(at, 'g', 3, 64)})
			}
		}
	}
	return out
}
