// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/test/rig"
)

func TestSpecsDependOnTheirSeedOnly(t *testing.T) {
	t.Parallel()
	programs, err := rig.FindPrograms()
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := specKinds(programs.Root)
	if err != nil {
		t.Fatal(err)
	}
	for i := range kinds {
		kind := &kinds[i]
		different := 0
		for number := range uint64(20) {
			one, again := newSpecGenerator(1, number).spec(kind), newSpecGenerator(1, number).spec(kind)
			if diff := cmp.Diff(one, again); diff != "" {
				t.Errorf("spec %d of %s is another one the second time (-first +second):\n%s", number, kind.kind, diff)
			}
			if !cmp.Equal(one, kind.valid) {
				different++
			}
		}
		if different < 10 {
			t.Errorf("only %d of 20 specs of %s differ from the valid one", different, kind.kind)
		}
	}
}
