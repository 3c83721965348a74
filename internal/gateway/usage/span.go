// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"fmt"
	"time"
)

// Span is a time in which points are Step apart. From and To are multiples of Step.
type Span struct {
	From, To time.Time
	Step     time.Duration

	// named is since when averages by the name of the object do not include an earlier object of that name, which others may have owned.
	named time.Time
}

// SpanSince returns the last hours of an object that was created at a time, with at most as many points as a ring has.
func SpanSince(now, created time.Time, hours int) Span {
	from := now.Add(-time.Duration(hours) * time.Hour)
	if created.After(from) {
		from = created
	}
	length := max(now.Sub(from), 0)
	in := Span{Step: max(((length + Points*Interval - 1) / Points).Truncate(Interval), Interval)}
	in.named = in.next(created.Add(in.window()))
	in.From, in.To = in.next(from), now.Truncate(in.Step)
	return in
}

// next returns the first multiple of Step that is not before a time.
func (s Span) next(of time.Time) time.Time { return of.Add(s.Step - 1).Truncate(s.Step) }

// window is what one point is the average of.
func (s Span) window() time.Duration { return max(s.Step, minWindow) }

// duration returns the window as PromQL has it.
func (s Span) duration() string { return fmt.Sprintf("%ds", int(s.window()/time.Second)) }

// Thin returns the points since From: of each Step the last one.
func (s Span) Thin(points []Point) []Point {
	from := s.From.Add(-s.Step) // a minute of its own may be within the first Step
	var out []Point
	for _, point := range points {
		switch last := len(out) - 1; {
		case !point.Time.After(from):
		case last >= 0 && out[last].Time.Truncate(s.Step).Equal(point.Time.Truncate(s.Step)):
			out[last] = point
		default:
			out = append(out, point)
		}
	}
	return out
}

// Before returns the part of the span that can be asked for by name and ends before the first of the points, and whether there is one.
func (s Span) Before(points []Point) (Span, bool) {
	if s.named.After(s.From) {
		s.From = s.named
	}
	if len(points) > 0 {
		s.To = points[0].Time.Add(-1).Truncate(s.Step)
	}
	return s, !s.To.Before(s.From)
}
