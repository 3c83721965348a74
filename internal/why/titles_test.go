// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import "testing"

// Every check has a title of its own, and no two share one.
func TestEveryCheckHasATitle(t *testing.T) {
	t.Parallel()
	by := map[string]CheckID{}
	for id, title := range titles() {
		if title == "" || by[title] != "" {
			t.Errorf("the checks %q and %q are both called %q", id, by[title], title)
		}
		by[title] = id
	}
}
