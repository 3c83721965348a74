// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"slices"
)

// series are the values that one quantity had in the rounds that count.
type series struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
}

// add adds the value of a round. Round 0 is the warm-up and is dropped.
func (s *series) add(round int, value float64) {
	if round > 0 {
		s.Values = append(s.Values, value)
	}
}

func (s *series) median() float64 { return median(s.Values) }

// median returns the middle one of the values, or the mean of the two in the middle; 0 where there are none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// ratio compares two series.
type ratio struct {
	Name string `json:"name"`
	// Value is the ratio of the medians.
	Value float64 `json:"value"`
	// Low and High bound the middle 95 % of the ratios that resampling the rounds gives.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Aim is the greatest value that is wanted, 0 for none.
	Aim float64 `json:"aim,omitempty"`
}

// resamples is how often the rounds are drawn anew.
const resamples = 10_000

// compare returns the ratio of the medians of a to b, and how far it can be trusted: by the bootstrap, which draws as
// many rounds as there were from those there were, again and again.
func compare(name string, a, b *series, aim float64) ratio {
	out := ratio{Name: name, Aim: aim}
	if b.median() == 0 {
		return out
	}
	out.Value = a.median() / b.median()
	random := rand.New(rand.NewPCG(1, uint64(len(a.Values)))) // the same rounds give the same interval
	draws := make([]float64, 0, resamples)
	for range resamples {
		if below := median(resample(random, b.Values)); below != 0 {
			draws = append(draws, median(resample(random, a.Values))/below)
		}
	}
	slices.Sort(draws)
	if len(draws) > 0 {
		out.Low, out.High = draws[len(draws)*25/1000], draws[(len(draws)-1)*975/1000]
	}
	return out
}

func resample(random *rand.Rand, values []float64) []float64 {
	out := make([]float64, len(values))
	for i := range out {
		out[i] = values[random.IntN(len(values))]
	}
	return out
}

// percentile returns the value that so many percent of the values are not above.
func percentile(values []float64, percent int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}
