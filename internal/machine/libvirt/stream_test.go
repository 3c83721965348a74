// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

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
