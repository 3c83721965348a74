// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"slices"
)

// spread returns so many of all attempts, or all of them for 0: first one for each variant in each scenario, then a second one, and so on. A
// plain sample would pass over scenarios in which little is written. It depends on nothing but the seed.
func spread(all []attempt, size int, seed uint64) []attempt {
	if size == 0 || size >= len(all) {
		return all
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	type stratum struct{ scenario, variant string }
	rank, count := make([]int, len(all)), map[stratum]int{}
	order := make([]int, len(all))
	for i := range all {
		of := stratum{all[i].row.Scenario, all[i].way()}
		rank[i], order[i] = count[of], i
		count[of]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank[a] - rank[b] })
	out := make([]attempt, size)
	for i := range out {
		out[i] = all[order[i]]
	}
	return out
}

// way returns the name of the variant or the disturbance.
func (a *attempt) way() string {
	if a.disturbance != nil {
		return a.disturbance.name
	}
	return a.fault.Variant.name
}
