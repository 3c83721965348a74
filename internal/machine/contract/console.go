// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// typing: a console takes what is typed, and leaves nothing behind.
func typing() cases {
	return cases{
		"a machine that does not exist has no console": func(t *testing.T, tr *trial) {
			tr.needsConsole(t)
			_, err := tr.Driver.Console(t.Context(), tr.identity())
			wantError(t, "Console", err, machine.ErrNotFound)
		},
		"another installation cannot open the console": func(t *testing.T, tr *trial) {
			tr.needsConsole(t)
			other := tr.running(t).Identity
			other.Installation = newUUID()
			_, err := tr.Driver.Console(t.Context(), other)
			wantError(t, "Console", err, machine.ErrNotFound)
		},
		"a host without consoles says so": func(t *testing.T, tr *trial) {
			tr.needs(t, !tr.info.Capabilities.Console, "the host has consoles")
			_, err := tr.Driver.Console(t.Context(), tr.running(t).Identity)
			wantError(t, "Console", err, machine.ErrUnsupported)
		},
		"a machine that is off has no console": func(t *testing.T, tr *trial) {
			tr.needsConsole(t)
			for state, spec := range map[string]machine.Spec{"has never run": tr.created(t), "is off": tr.stopped(t)} {
				if _, err := tr.Driver.Console(t.Context(), spec.Identity); !errors.Is(err, machine.ErrOff) {
					t.Errorf("of a machine that %s Console returned %v, want %v", state, err, machine.ErrOff)
				}
			}
		},
		"the machine answers what is typed": func(t *testing.T, tr *trial) {
			tr.needsConsole(t)
			at := tr.console(t.Context(), t, tr.running(t).Identity)
			wantSuccess(t, "Resize", at.Resize(limited(t), 132, 43))
			for _, word := range []string{"one", "two"} {
				tr.talk(t, at, word)
			}
			wantSuccess(t, "Close", at.Close())
		},
		"the console ends when the machine is off": func(t *testing.T, tr *trial) {
			tr.needsConsole(t)
			spec := tr.running(t)
			at := tr.console(t.Context(), t, spec.Identity)
			tr.talk(t, at, "one")
			tr.stop(t, spec.Identity)
			wantSuccess(t, "reading until the machine is off", tr.drain(t, at))
			tr.start(t, spec.Identity)
			tr.talk(t, tr.console(t.Context(), t, spec.Identity), "again")
		},
		"the console ends with the context, and when it is closed": func(t *testing.T, tr *trial) {
			tr.needsConsole(t)
			spec := tr.running(t)
			ctx, cancel := context.WithCancel(t.Context())
			at := tr.console(ctx, t, spec.Identity)
			tr.talk(t, at, "one")
			cancel()
			_ = tr.drain(t, at) // which ends, in whatever way
			closeQuietly(at)

			at = tr.console(t.Context(), t, spec.Identity)
			tr.talk(t, at, "two")
			closeQuietly(at)
			closeQuietly(at)
			_ = tr.drain(t, at)
			if _, err := at.Write([]byte("three\n")); err == nil {
				t.Error("what is typed into a console that is closed arrives")
			}
		},
		"a second console works, or is held by the first": func(t *testing.T, tr *trial) {
			tr.needsConsole(t)
			spec := tr.running(t)
			first := tr.console(t.Context(), t, spec.Identity)
			tr.talk(t, first, "one")
			second, err := tr.Driver.Console(t.Context(), spec.Identity)
			if err == nil {
				tr.talk(t, second, "two")
				closeQuietly(second)
			} else {
				wantError(t, "Console", err, machine.ErrConsoleHeld)
			}
			tr.talk(t, first, "three")
			closeQuietly(first)
			tr.talk(t, tr.console(t.Context(), t, spec.Identity), "four")
		},
	}
}

func (tr *trial) needsConsole(t *testing.T) {
	t.Helper()
	tr.needs(t, tr.info.Capabilities.Console, "the host has no consoles")
}

// console opens a console, which is closed when the case ends. One that was closed a moment ago can still be held.
func (tr *trial) console(ctx context.Context, t *testing.T, id machine.Identity) machine.Console {
	t.Helper()
	var at machine.Console
	tr.eventually(t, "a console is free", func() bool {
		var err error
		at, err = tr.Driver.Console(ctx, id)
		if err != nil && !errors.Is(err, machine.ErrConsoleHeld) {
			t.Fatalf("Console: %v", err)
		}
		return err == nil
	})
	t.Cleanup(func() { closeQuietly(at) })
	return at
}

// retyped is after how many looks for an answer a word is typed again.
const retyped = 100

// talk types a word and waits for the answer. A machine that has just started may not listen yet, so the word is typed again.
func (tr *trial) talk(t *testing.T, at machine.Console, word string) {
	t.Helper()
	typed, answer := word, "heard: "+word
	if tr.Type != nil {
		typed, answer = tr.Type(word)
	}
	answered := make(chan error, 1)
	go func() { answered <- await(at, answer) }()
	looks := 0
	tr.eventually(t, "the machine answers "+typed, func() bool {
		if looks%retyped == 0 {
			if _, err := io.WriteString(at, typed+"\n"); err != nil {
				t.Fatalf("typing %q: %v", typed, err)
			}
		}
		looks++
		select {
		case err := <-answered:
			if err != nil {
				t.Fatalf("instead of an answer to %q: %v", typed, err)
			}
			return true
		default:
			return false
		}
	})
}

// await reads until the answer is there.
func await(from io.Reader, answer string) error {
	var said []byte
	buffer := make([]byte, 1024)
	for !bytes.Contains(said, []byte(answer)) {
		n, err := from.Read(buffer)
		said = append(said, buffer[:n]...)
		if err != nil {
			return fmt.Errorf("%w after %q", err, said)
		}
	}
	return nil
}

// drain reads to the end, and returns what the end is. It fails if there is none.
func (tr *trial) drain(t *testing.T, at io.Reader) error {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, at)
		ended <- err
	}()
	var out error
	tr.eventually(t, "the console has ended", func() bool {
		select {
		case out = <-ended:
			return true
		default:
			return false
		}
	})
	return out
}
