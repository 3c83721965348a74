// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// TestFollow reads a log as it grows, past the point where its beginning is dropped.
func TestFollow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tail int
		seen []string
		want string
	}{
		"a log that grows":                        {-1, []string{"a\n", "a\nb\n", "a\nb\nc\n"}, "a\nb\nc\n"},
		"a log that begins":                       {-1, []string{"", "", "a\n"}, "a\n"},
		"only what comes":                         {0, []string{"a\nb\n", "a\nb\nc\n"}, "c\n"},
		"the last line and what comes":            {1, []string{"a\nb\n", "a\nb\nc\n"}, "b\nc\n"},
		"a log whose beginning is dropped":        {-1, []string{"a\nb\n", "b\nc\n", "c\nd\n"}, "a\nb\nc\nd\n"},
		"lines that repeat":                       {-1, []string{strings.Repeat("x\n", 2), strings.Repeat("x\n", 3)}, strings.Repeat("x\n", 3)},
		"a line that is not at its end":           {-1, []string{"a\nb", "a\nbc\n"}, "a\nbc\n"},
		"more than can be followed":               {-1, []string{"a\n", "y\n"}, "a\n" + skipped + "y\n"},
		"secrets, whose form the redaction knows": {-1, []string{"a\n", "a\npassword: hunter22\n"}, "a\npassword: " + redacted + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				runs := make([]Run, len(c.seen))
				for i, log := range c.seen {
					runs[i] = Run{ID: "1", Phase: Running, Log: log}
				}
				runs[len(runs)-1].Phase = Succeeded
				got, err := io.ReadAll(Follow(t.Context(), runs[0], c.tail, func(context.Context) (Run, error) {
					runs = runs[1:]
					return runs[0], nil
				}))
				if string(got) != c.want || err != nil {
					t.Errorf("got %q and %v, want %q", got, err, c.want)
				}
			})
		})
	}
}

// TestFollowEnds ends when another run is in the place of the one that is followed, with an error, with the context, and when it is closed.
func TestFollowEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := Run{ID: "1", Phase: Running}
		other := func(context.Context) (Run, error) { return Run{ID: "2", Phase: Running, Log: "other\n"}, nil }
		if got, err := io.ReadAll(Follow(t.Context(), first, -1, other)); len(got) > 0 || err != nil {
			t.Errorf("of another run it reads %q and says %v", got, err)
		}
		if _, err := io.ReadAll(Follow(t.Context(), first, -1, func(context.Context) (Run, error) { return Run{}, ErrNoRun })); !errors.Is(err, ErrNoRun) {
			t.Errorf("without a run it says %v", err)
		}
		same := func(context.Context) (Run, error) { return first, nil }
		ctx, cancel := context.WithCancel(t.Context())
		canceled, closed := Follow(ctx, first, -1, same), Follow(t.Context(), first, -1, same)
		cancel()
		if err := closed.Close(); err != nil {
			t.Error(err)
		}
		for _, reader := range []io.Reader{canceled, closed} {
			if _, err := io.ReadAll(reader); !errors.Is(err, context.Canceled) {
				t.Errorf("it ends with %v", err)
			}
		}
	})
}

func TestLastLines(t *testing.T) {
	t.Parallel()
	for text, wants := range map[string][]string{
		"":         {"", "", ""},
		"a":        {"", "a", "a"},
		"a\n":      {"", "a\n", "a\n"},
		"a\nb\nc":  {"", "c", "b\nc"},
		"a\n\nc\n": {"", "c\n", "\nc\n"},
	} {
		for lines, want := range wants {
			if got := LastLines(text, lines); got != want {
				t.Errorf("the last %d lines of %q are %q, want %q", lines, text, got, want)
			}
		}
		if got := LastLines(text, -1); got != text || LastLines(text, strings.Count(text, "\n")+9) != text {
			t.Errorf("all lines of %q are %q", text, got)
		}
	}
}
