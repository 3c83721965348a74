// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestAListInPartsHasOtherPages holds the pages of lists that come in parts, of one namespace or of several, against those of the whole lists.
func TestAListInPartsHasOtherPages(t *testing.T) {
	t.Parallel()
	var items []*Item
	for i := range 60 {
		items = append(items, &Item{
			Namespace: []string{"a", "a-b", "b"}[i%3], Name: fmt.Sprint("n", i), Created: time.Unix(int64(i%7), 0),
			JSON: make([]byte, i), search: fmt.Sprint("n", i), Labels: map[string]string{"odd": strconv.FormatBool(i%2 == 1)},
		})
	}
	slices.SortFunc(items, Compare)
	names := func(of Page) (out []string) {
		for _, item := range of.Items {
			out = append(out, item.Key())
		}
		return append(out, of.Continue, strconv.Itoa(of.Remaining))
	}
	for _, limit := range []int{0, 1, 7, 59, 60, 61} {
		for _, sort := range []string{SortName, SortCreated, SortNewest} {
			for _, labels := range []string{"", "odd=true"} {
				for after := ""; ; {
					query, err := ParseQuery(labels, "", "n", sort, limit, after)
					if err != nil {
						t.Fatal(err)
					}
					shuffled := slices.Clone(items)
					rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
					all := query.Gather()
					for lists := range slices.Chunk(shuffled, 1+rand.IntN(60)) {
						list := query.Gather()
						for part := range slices.Chunk(lists, 1+rand.IntN(60)) {
							list.Add(part)
						}
						all.Join(list)
					}
					want, got, size := query.Select(items), all.Page(), 0
					for _, item := range got.Items {
						size += len(item.JSON)
					}
					if diff := cmp.Diff(names(want), names(got)); diff != "" || all.Size() != size {
						t.Fatalf("limit %d, %s, %q after %q, with %d bytes of %d (-whole +parts):\n%s", limit, sort, labels, after, all.Size(), size, diff)
					}
					if after = want.Continue; after == "" {
						break
					}
				}
			}
		}
	}
}
