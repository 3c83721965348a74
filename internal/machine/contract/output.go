// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// printing: what a machine writes to its console can be read.
func printing() cases {
	all := machine.OutputOptions{Tail: -1}
	follow := machine.OutputOptions{Tail: -1, Follow: true}
	return cases{
		"a machine that does not exist has no output": func(t *testing.T, tr *trial) {
			tr.needsOutput(t)
			_, err := tr.Driver.Output(limited(t), tr.identity(), all)
			wantError(t, "Output", err, machine.ErrNotFound)
		},
		"another installation cannot read the output": func(t *testing.T, tr *trial) {
			tr.needsOutput(t)
			spec := tr.running(t)
			other := spec.Identity
			other.Installation = newUUID()
			_, err := tr.Driver.Output(limited(t), other, all)
			wantError(t, "Output", err, machine.ErrNotFound)
		},
		"a host that keeps no output says so": func(t *testing.T, tr *trial) {
			tr.needs(t, !tr.info.Capabilities.Output, "the host keeps output")
			_, err := tr.Driver.Output(limited(t), tr.running(t).Identity, all)
			wantError(t, "Output", err, machine.ErrUnsupported)
		},
		"the output stays when the machine is off": func(t *testing.T, tr *trial) {
			tr.needsOutput(t)
			spec := tr.running(t)
			said := tr.awaitOutput(t, spec.Identity)
			tr.stop(t, spec.Identity)
			if kept := tr.output(t, spec.Identity, all); !strings.HasPrefix(kept, said) {
				t.Errorf("of a machine that is off Output has %q, want it to begin with %q", kept, said)
			}
		},
		"the tail of the output is its last lines": func(t *testing.T, tr *trial) {
			tr.needsOutput(t)
			spec := tr.running(t)
			tr.awaitOutput(t, spec.Identity)
			tr.stop(t, spec.Identity)
			tr.start(t, spec.Identity)
			tr.eventually(t, "there are several lines", func() bool { return strings.Count(tr.output(t, spec.Identity, all), "\n") > 1 })
			tr.stop(t, spec.Identity)
			whole := tr.output(t, spec.Identity, all)
			lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
			for tail, want := range map[int]string{0: "", 1: lines[len(lines)-1], len(lines) + 1: whole} {
				if got := tr.output(t, spec.Identity, machine.OutputOptions{Tail: tail}); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want, "\n") {
					t.Errorf("the last %d lines of %q are %q, want %q", tail, whole, got, want)
				}
			}
		},
		"who follows reads on until the machine is off": func(t *testing.T, tr *trial) {
			tr.needsOutput(t)
			spec := tr.running(t)
			ctx, cancel := context.WithTimeout(t.Context(), tr.Patience)
			defer cancel()
			reading := tr.open(ctx, t, spec.Identity, follow)
			defer closeQuietly(reading)
			first := make([]byte, 1)
			if _, err := io.ReadFull(reading, first); err != nil {
				t.Fatalf("a machine that runs says nothing: %v", err)
			}
			tr.stop(t, spec.Identity)
			rest, err := io.ReadAll(reading)
			wantSuccess(t, "reading until the machine is off", err)
			if kept := tr.output(t, spec.Identity, all); kept != string(first)+string(rest) {
				t.Errorf("who followed read %q, and the output is %q", string(first)+string(rest), kept)
			}
		},
		"who follows a machine that is off reads to the end": func(t *testing.T, tr *trial) {
			tr.needsOutput(t)
			spec := tr.stopped(t)
			if got, want := tr.output(t, spec.Identity, follow), tr.output(t, spec.Identity, all); got != want {
				t.Errorf("who follows reads %q, want %q", got, want)
			}
		},
		"following ends with the context, and when it is closed": func(t *testing.T, tr *trial) {
			tr.needsOutput(t)
			spec := tr.running(t)
			ctx, cancel := context.WithCancel(t.Context())
			reading := tr.open(ctx, t, spec.Identity, follow)
			cancel()
			if _, err := io.ReadAll(reading); err == nil {
				t.Error("following ends as if the machine were off")
			}
			closeQuietly(reading)

			reading = tr.open(t.Context(), t, spec.Identity, follow)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = io.Copy(io.Discard, reading)
			}()
			closeQuietly(reading)
			tr.eventually(t, "the reader has ended", func() bool {
				select {
				case <-ended:
					return true
				default:
					return false
				}
			})
		},
	}
}

func (tr *trial) needsOutput(t *testing.T) {
	t.Helper()
	tr.needs(t, tr.info.Capabilities.Output, "the host keeps no output")
}

func (tr *trial) open(ctx context.Context, t *testing.T, id machine.Identity, options machine.OutputOptions) io.ReadCloser {
	t.Helper()
	reading, err := tr.Driver.Output(ctx, id, options)
	if err != nil {
		t.Fatalf("Output: %v", err)
	}
	return reading
}

// output reads the output to its end.
func (tr *trial) output(t *testing.T, id machine.Identity, options machine.OutputOptions) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), tr.Patience)
	defer cancel()
	reading := tr.open(ctx, t, id, options)
	raw, err := io.ReadAll(reading)
	if err = errors.Join(err, reading.Close()); err != nil {
		t.Fatalf("reading output: %v", err)
	}
	return string(raw)
}

// awaitOutput waits until the machine has written a line.
func (tr *trial) awaitOutput(t *testing.T, id machine.Identity) string {
	t.Helper()
	var said string
	tr.eventually(t, "the machine has written a line", func() bool {
		said = tr.output(t, id, machine.OutputOptions{Tail: -1})
		return strings.Contains(said, "\n")
	})
	return said
}

// closeQuietly closes a reader whose end is of no interest any more.
func closeQuietly(reading io.Closer) { _ = reading.Close() }
