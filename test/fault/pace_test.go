// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"
)

func TestPaceSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := newPace(begun, 2)
	p.add(100)
	for i := range 99 {
		if line := p.step(begun.Add(time.Duration(i)*time.Second/2), i/98); line != "" {
			t.Fatalf("after %d runs it says %q, want nothing within a minute", i+1, line)
		}
	}
	want := "played 100 of at least 100 faults with 1 findings"
	if line := p.step(begun.Add(time.Minute), 0); line != want {
		t.Errorf("it says %q, want %q", line, want)
	}
	p.add(200)
	want = "played 101 of 300 faults with 1 findings, about 4m0s left"
	if line := p.step(begun.Add(2*time.Minute), 0); line != want {
		t.Errorf("it says %q, want %q", line, want)
	}
}
