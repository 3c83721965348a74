// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"errors"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// A copy that takes longer than a call goes on, and the next call finds it.
func TestMakingOutlivesTheCall(t *testing.T) {
	t.Parallel()
	w := newWorkshop()
	id := machine.Identity{Installation: "inst", UID: uid, Name: "web"}
	finish := make(chan error)
	begun := 0
	begin := func(id machine.Identity) *job {
		j, err := w.begin(id, func() (func() error, error) {
			begun++
			return func() error { return <-finish }, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	first := begin(id)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := first.wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that ended returned %v", err)
	}
	id.Name = "a name that is only for the eye"
	second := begin(id)
	if begun != 1 {
		t.Errorf("it was begun %d times", begun)
	}
	failure := errors.New("the disk is full")
	finish <- failure
	if err := second.wait(t.Context()); !errors.Is(err, failure) {
		t.Errorf("the next call returned %v", err)
	}
	if w.find(id) != nil {
		t.Error("what is done is still going on")
	}
	begin(id)
	finish <- nil
	if begun != 2 {
		t.Errorf("after a failure it was begun %d times", begun)
	}
}
