// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// procedureDownload is the number of the call that reads a volume, in libvirt's protocol.
const procedureDownload = 209

func TestImageIsReadAgainWhenItsStreamEndsEarly(t *testing.T) {
	t.Parallel()
	s, way := newStorageBehindProxy(t)
	spec := s.diskSpec("image")
	spec.Image.Name = s.daemon.Path("images/base.qcow2")
	qemuImg(t, "create", "-q", "-f", "qcow2", spec.Image.Name, "1M")
	way.CutStream(procedureDownload)
	wantSuccess(t, "Create", s.ensure(t, spec))
}

func TestOutputIsReadAgainWhenItsStreamEndsEarly(t *testing.T) {
	t.Parallel()
	s, way := newStorageBehindProxy(t)
	spec := s.diskSpec("output")
	wantSuccess(t, "Create", s.ensure(t, spec))
	text := strings.Repeat("what a guest prints\n", 10_000)
	if err := os.WriteFile(s.disk(t, "console.log"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	way.CutStream(procedureDownload)
	reading, err := s.driver.Output(t.Context(), spec.Identity, machine.OutputOptions{Tail: -1})
	wantSuccess(t, "Output", err)
	got, err := io.ReadAll(reading)
	wantSuccess(t, "reading output", errors.Join(err, reading.Close()))
	if string(got) != text {
		t.Errorf("%d bytes were read of %d", len(got), len(text))
	}
}

// Each who followed the output of a guest whose domain hung took one of the few calls that a daemon serves at a time, until nobody could look at the others.
func TestFollowersOfADomainThatHangsCutOffOthers(t *testing.T) {
	t.Parallel()
	s, way := newStorageBehindProxy(t)
	hangs, other := s.diskSpec("hangs"), s.diskSpec("other")
	other.UID = "bbbbbbbb-bbbb-4ccc-8ddd-eeeeeeeeeeee"
	for _, spec := range []machine.Spec{hangs, other} {
		wantSuccess(t, "Create", s.ensure(t, spec))
	}
	followers := make([]io.ReadCloser, 5) // as many calls as a daemon serves at a time
	for i := range followers {
		var err error
		followers[i], err = s.driver.Output(t.Context(), hangs.Identity, machine.OutputOptions{Tail: -1, Follow: true})
		wantSuccess(t, "Output", err)
	}
	dom := domainOf(t, s.api, hangs.Identity)
	way.Swallow(procedureDescribe, dom.UUID[:])
	for _, follower := range followers {
		time.AfterFunc(200*time.Millisecond, func() { _ = follower.Close() })
		if _, err := follower.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("reading output returned %v, want that it was waited until its end", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := s.driver.Get(ctx, other.Identity)
	wantSuccess(t, "Get of the other machine", err)
}
